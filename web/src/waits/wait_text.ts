/** Waits in words: the common properties of the waits of a group. */
import type { WaitGroup, WaitGrouping } from '../engine/waits';
import type { NamesPart } from '../session/names';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';

/** The limit of a group's shown callers. */
export const MOST_CALLERS = 12;

/** Returns whether the titles of groups contain the object. */
export function namesObject(by: WaitGrouping): boolean {
    return by === 'object' || by === 'object-waker';
}

/** Returns whether the titles of groups contain the waker. */
export function namesWaker(by: WaitGrouping): boolean {
    return by === 'waker' || by === 'object-waker';
}

/** Returns all functions that called the waiting function, innermost first. */
function callersIn({ path }: WaitGroup, by: WaitGrouping): number[] {
    return (by === 'stack' ? [...path] : path.slice(0, -1)).reverse();
}

export function createWaitText({ info, names, store }: SessionBase & { names: NamesPart; store: StorePart }) {
    const { nameOf } = names;
    const { threadInfo, view } = store;

    /** Returns the reason, such as "Lock", or a text for waits that prof did not record individually. */
    function reasonOf({ reason }: WaitGroup): string {
        const category = info.value.categories[info.value.idleCategory];
        const name = category?.subcategories[reason] ?? '';
        return reason < 0 ? 'Not recorded' : name === 'Other' || name === '' ? 'Unknown' : name;
    }

    function objectOf({ func }: WaitGroup): string {
        return func < 0 ? '(not running)' : nameOf(func) || '(no name)';
    }

    /** Returns the functions of the program that called the waiting function, innermost first. */
    function callersOf(group: WaitGroup, by: WaitGrouping): string[] {
        return callersIn(group, by)
            .slice(group.runtimeCallers, group.runtimeCallers + MOST_CALLERS)
            .map((func) => nameOf(func) || '(no name)');
    }

    /** Returns the function of a library in which the program waits, or '' if the program itself waits. */
    function entryOf(group: WaitGroup, by: WaitGrouping): string {
        const entry = callersIn(group, by)[group.runtimeCallers - 1];
        return entry === undefined ? '' : nameOf(entry) || '(no name)';
    }

    function threadName(group: WaitGroup): string {
        const thread = threadInfo(group.thread);
        return thread ? thread.name || `TID ${thread.tid}` : '';
    }

    /** Returns the common property of the waits of a group. */
    function titleOf(group: WaitGroup): string {
        const by = view.value.waitsBy;
        if (by === 'reason') return reasonOf(group);
        if (by === 'object') return objectOf(group);
        if (by === 'thread') return threadName(group);
        if (by === 'waker') return group.waker || '(unknown)';
        if (by === 'object-waker') return objectOf(group) + (group.waker && `, ended by ${group.waker}`);
        return callersOf(group, by)[0] ?? '(no callers)';
    }

    return { reasonOf, objectOf, callersOf, entryOf, threadName, titleOf };
}
