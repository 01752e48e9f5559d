/** The names, colors and order of thread states. The profile defines the names of the reasons for waits. */
import { computed } from '@preact/signals';
import { STATE_REASONS, STATE_RUNNING } from '../engine/api';
import type { SessionBase } from './session_base';

export interface ThreadState {
    /** The number of the state in answers of the engine. */
    state: number;
    name: string;
    /** A color of style/colors.css. */
    color: string;
    /** Whether the lane has stripes, because prof did not see what the thread did. */
    isUnseen: boolean;
    /** The position from the bottom of a lane. */
    rank: number;
}

/** The known reasons by name, from the bottom of a lane to the top. */
const KNOWN: readonly [name: string, color: string][] = [
    ['lock', 'state-lock'],
    ['mutex', 'state-lock'],
    ['read-write lock', 'state-lock'],
    ['semaphore', 'state-lock'],
    ['disk', 'state-disk'],
    ['page fault', 'state-fault'],
    ['network', 'state-network'],
    ['pipe', 'state-pipe'],
    ['child', 'state-child'],
];
const QUIET: readonly [name: string, color: string][] = [
    ['sleep', 'state-sleep'],
    ['idle thread', 'state-sleep'],
    ['stopped', 'state-sleep'],
    ['other', 'state-other'],
    ['not seen', 'state-unseen'],
];
/** The colors of all other reasons. */
const FURTHER = ['state-further-1', 'state-further-2', 'state-further-3'];
const QUIET_RANK = 1000;

function reasonState(name: string, reason: number): Omit<ThreadState, 'state'> {
    const known = KNOWN.findIndex(([key]) => key === name.toLowerCase());
    const quiet = QUIET.findIndex(([key]) => key === name.toLowerCase());
    const color = (KNOWN[known] ?? QUIET[quiet])?.[1] ?? FURTHER[reason % FURTHER.length] ?? 'state-other';
    const isUnseen = color === 'state-unseen';
    const rank = known >= 0 ? 2 + known : quiet >= 0 ? QUIET_RANK + quiet : 2 + KNOWN.length + reason;
    const shown = isUnseen ? 'Short waits, cause not seen' : name === 'Other' || name === '' ? 'Other waits' : name;
    return { name: shown, color, isUnseen, rank };
}

/** Returns the CSS value of a state's color. */
export function stateBackground({ color, isUnseen }: ThreadState): string {
    const value = `var(--${color})`;
    return isUnseen ? `repeating-linear-gradient(-45deg, ${value} 0 2px, var(--state-stripe) 2px 4px)` : value;
}

export function createStates({ info }: SessionBase) {
    /** The states by number. */
    const threadStates = computed<readonly ThreadState[]>(() => {
        const { categories, idleCategory, runnableReason } = info.value;
        const reasons = categories[idleCategory]?.subcategories ?? [];
        return [
            { state: STATE_RUNNING, name: 'Running', color: 'state-running', isUnseen: false, rank: 0 },
            ...reasons.map((name, reason): ThreadState => {
                const state = STATE_REASONS + reason;
                if (reason === runnableReason)
                    return { state, name: 'Runnable', color: 'state-runnable', isUnseen: false, rank: 1 };
                return { state, ...reasonState(name, reason) };
            }),
            { state: STATE_REASONS + reasons.length, ...reasonState('Not seen', 0) },
        ];
    });
    return { threadStates };
}

export type StatesPart = ReturnType<typeof createStates>;
