/** The links between lines and instructions, and the costs of instructions. */
import type { AddressCost, LineCost } from '../engine/source';
import type { Code } from './source_texts';

type Places = Pick<Code, 'places'>;

/** Returns the lines of a file from which an instruction comes, innermost last. The file '' has no lines. */
export function linesOfInstruction(code: Places | null, index: number, file: string): number[] {
    if (file === '') return [];
    const places = code?.places[index] ?? [];
    return places.filter((place) => place.file === file && place.line > 0).map((place) => place.line);
}

/** Returns the indexes of the instructions from a line of a file; line 0 has none. */
export function instructionsOfLine(code: Places | null, line: number, file: string): Set<number> {
    const found = new Set<number>();
    if (line > 0 && code)
        code.places.forEach((_, index) => {
            if (linesOfInstruction(code, index, file).includes(line)) found.add(index);
        });
    return found;
}

/** Returns the costs of instructions by index, without addresses between instructions. */
export function costsOfInstructions(
    instructions: readonly { address: number }[],
    costs: readonly AddressCost[],
): Map<number, AddressCost> {
    const indexes = new Map(instructions.map(({ address }, index) => [address, index]));
    return new Map(
        costs.flatMap((cost): [number, AddressCost][] => {
            const index = indexes.get(cost.address);
            return index === undefined ? [] : [[index, cost]];
        }),
    );
}

/** Returns the instruction with the most self time, then total time, or -1 without instructions. */
export function hottestOf(indexes: Iterable<number>, costs: ReadonlyMap<number, AddressCost>): number {
    let best = -1;
    let most = -1;
    for (const index of indexes) {
        const cost = costs.get(index);
        const heat = cost ? cost.self * 1e6 + cost.total : 0;
        if (heat > most) [best, most] = [index, heat];
    }
    return best;
}

/**
 * Returns the line with the largest total, then self time, or 0 without lines. Changes count by their absolute value.
 */
export function costliestLine(costs: readonly LineCost[]): number {
    const size = Math.abs;
    const [first] = costs
        .filter(({ line }) => line > 0)
        .sort((a, b) => size(b.total) - size(a.total) || size(b.self) - size(a.self) || a.line - b.line);
    return first?.line ?? 0;
}

/** Matches "call 0x1b30 <trace(Ray)>" and other calls and jumps of x86 and arm with a target and its name. */
const CALL = /^(?:bnd |notrack )?(?:call[a-z]?|j[a-z]+|blx?|b)\s.*?(0x[0-9a-f]+)\s+<(.*)>/;

/** Returns the target of a call or jump, or null for other instructions and for targets in registers. */
export function callTarget(instruction: string): { address: number; name: string } | null {
    const [, address, name = ''] = CALL.exec(instruction) ?? [];
    return address === undefined ? null : { address: Number(address), name };
}
