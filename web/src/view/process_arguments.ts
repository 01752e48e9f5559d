/** The file argument of compilers, which distinguishes processes of one name. */
import { baseName } from '../base/plain';
import type { ThreadInfo } from '../engine/api';
import { partsOf } from './thread_groups';

const LONGEST = 40;
/** A build id of Go, for example. */
const HASH = /^[^.]{20,}$/;

/** The arguments of a command line that are no options, without their directories. */
function argumentsOf(command: string): string[] {
    const words = command.split(/\s+/).slice(1);
    const names = words.filter((word) => !/^[-+]|['"=<>{}()$;|&*`]/.test(word)).map(baseName);
    return [...new Set(names)].filter((name) => name !== '' && !HASH.test(name));
}

/** By PID, the first of the arguments that fewest processes of the same name have; none where all of them have it. */
export function differingArguments(threads: readonly ThreadInfo[]): Map<string, string> {
    const differing = new Map<string, string>();
    const programs = threads.filter((thread) => thread.command !== '');
    for (const alike of partsOf(programs, ({ processName }) => processName).values()) {
        const lists = alike.map(({ pid, command }) => ({ pid, words: argumentsOf(command) }));
        const counts = new Map<string, number>();
        for (const word of lists.flatMap(({ words }) => words)) counts.set(word, (counts.get(word) ?? 0) + 1);
        for (const { pid, words } of lists) {
            const [rarest] = [...words].sort((a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0));
            if (rarest !== undefined && (counts.get(rarest) ?? 0) < lists.length)
                differing.set(pid, rarest.slice(0, LONGEST));
        }
    }
    return differing;
}
