/** Components that the page loads when the first of them appears. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

type OnDemand = typeof import('./on_demand');

export function later(name: Exclude<keyof OnDemand, 'CpuLane' | 'cpuTooltip'>): () => JSX.Element {
    return () => {
        const [loaded, setLoaded] = useState<OnDemand | null>(null);
        const [problem, setProblem] = useState('');
        useEffect(() => {
            import('./on_demand').then(setLoaded, () =>
                setProblem('This part of the page could not be loaded. Is prof still running?'),
            );
        }, []);
        const Component = loaded?.[name];
        return Component ? <Component /> : <p class="empty">{problem}</p>;
    };
}
