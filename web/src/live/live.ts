/**
 * A recording that the page follows (`prof record --live`). The server announces each step by server-sent events; the
 * page loads new data after it has shown the previous step, unless the user pauses the page.
 */
import { computed, signal } from '@preact/signals';
import { messageOf } from '../base/message';
import { askServer, checkServer, hasStopped } from '../window/server';
import { showNotice } from '../window/windows';

export interface LiveState {
    /** The number of the profile, which increases with each profile. */
    generation: number;
    /** "saved" if the recording has ended, and the server has the saved profile. */
    state: string;
    samples: number;
    seconds: number;
    /** The time between two profiles, s. */
    period: number;
    /** Whether the recording is too large for further updates. */
    isFull?: boolean;
}

export const live = signal<LiveState | null>(null);
export const isHeld = signal(false);
export const isFollowing = computed(() => live.value !== null);

let load: (() => Promise<void>) | null = null;
let shown = 0;

export function toggleHold(): void {
    isHeld.value = !isHeld.value;
    void load?.();
}

function isLiveState(value: unknown): value is LiveState {
    const state = value as Partial<LiveState> | null;
    return typeof state?.generation === 'number' && typeof state.state === 'string';
}

/** Calls `grow` for a new profile of the server, and `finish` for the saved profile. */
export function followRecording(grow: () => Promise<void>, finish: () => Promise<void>): void {
    const events = new EventSource(new URL('live', document.baseURI));
    let running = false;
    const loadNewest = async (): Promise<void> => {
        if (running) return;
        running = true;
        try {
            for (let next = live.peek(); next && next.generation > shown && !isHeld.peek(); next = live.peek()) {
                shown = next.generation;
                await (next.state === 'saved' ? finish() : grow());
                if (next.state !== 'saved') continue;
                live.value = null;
                load = null;
            }
        } catch (error) {
            showNotice(`Cannot follow the recording: ${messageOf(error)}`);
        } finally {
            running = false;
        }
    };
    load = loadNewest;
    events.onmessage = ({ data }: MessageEvent<string>) => {
        const state: unknown = JSON.parse(data);
        if (!isLiveState(state)) return;
        live.value = state;
        if (state.state === 'saved') events.close();
        void loadNewest();
    };
    events.onerror = () => {
        void checkServer().then(() => {
            if (!hasStopped.peek()) return;
            events.close();
            live.value = null;
        });
    };
}

/** Sends a request of `prof ctl` to the recording. */
export async function control(request: string): Promise<void> {
    const answer = await askServer('live/control', { method: 'POST', body: request });
    const { answer: said, error } = (await answer.json()) as { answer?: string; error?: string };
    showNotice(error ?? said ?? '');
}
