/** Components that the page loads when the first of them appears. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

type OnDemand = typeof import('./on_demand');

/** Code, which all sessions share. */
const parts: { loaded: OnDemand | null } = { loaded: null };

export const arePartsLoaded = (): boolean => parts.loaded !== null;

export async function loadParts(): Promise<void> {
    parts.loaded ??= await import('./on_demand');
}

export function later(name: Exclude<keyof OnDemand, 'CpuLane' | 'cpuTooltip'>): () => JSX.Element {
    return () => {
        const [problem, setProblem] = useState<string | null>(null);
        useEffect(() => {
            if (!arePartsLoaded())
                loadParts().then(
                    () => setProblem(''),
                    () => setProblem('This part of the page could not be loaded. Is prof still running?'),
                );
        }, []);
        const Component = parts.loaded?.[name];
        return Component ? <Component /> : <p class="empty">{problem}</p>;
    };
}
