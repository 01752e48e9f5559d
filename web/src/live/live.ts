/**
 * A recording that the page follows (`prof record --live`). The server announces each step by server-sent events; the
 * page loads new data after it has shown the previous step, unless the user pauses the page.
 */
import { computed, signal } from '@preact/signals';
import { messageOf } from '../base/message';
import { askServer, checkServer, hasStopped } from '../window/server';
import { showNotice } from '../window/windows';

export interface LiveState {
    /** Counts the profiles. */
    generation: number;
    /** "saved": it has ended, and the profile is the one that was saved. */
    state: string;
    samples: number;
    seconds: number;
    /** s between two profiles. */
    period: number;
    /** The recording has become too large to be followed. */
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

/** `grow` shows the newest profile of the server, `finish` the saved one. */
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

/** Asks the recording to do what `prof ctl` can ask for. */
export async function control(request: string): Promise<void> {
    const answer = await askServer('live/control', { method: 'POST', body: request });
    const { answer: said, error } = (await answer.json()) as { answer?: string; error?: string };
    showNotice(error ?? said ?? '');
}
