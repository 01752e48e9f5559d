/**
 * Jumps inside a function, as arrows between its instructions: the lane of each arrow, and the drawing of visible
 * arrows.
 */

import { cleanContext, pixelRatio } from '../base/canvas';
import type { Instruction } from './symbol_api';

export interface Jump {
    /** Indexes of instructions. */
    from: number;
    to: number;
    /** The lane of the arrow; lane 0 is next to the code. */
    lane: number;
}

/**
 * Matches jumps of x86 (j.., loop..), arm64 (b, b.cond, cbz, cbnz, tbz, tbnz) and arm (b, bcond) with an absolute
 * address as target.
 */
const JUMP =
    /^(?:bnd |notrack )?(?:j[a-z]+|loopn?[ez]?|b(?:\.?(?:eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al))?(?:\.[wn])?|cbn?z|tbn?z)(?:,p[nt])?\s+(?:\w+, )?(?:#?\w+, )?#?(0x[0-9a-f]+)(?:\s+<|$)/;

export const LANE_WIDTH = 6;
export const MOST_LANES = 8;

/** Returns the target address of a jump, or null for other instructions and variable targets. */
export function jumpTarget(text: string): number | null {
    const match = JUMP.exec(text);
    return match ? Number(match[1]) : null;
}

/** Lays out short jumps inside long jumps. If lanes are too few, several jumps share the outermost lane. */
export function layoutJumps(instructions: readonly Instruction[]): Jump[] {
    const index = new Map(instructions.map((instruction, at) => [instruction.address, at]));
    const jumps: Jump[] = [];
    instructions.forEach((instruction, from) => {
        const target = jumpTarget(instruction.texts[0] ?? '');
        const to = target === null ? undefined : index.get(target);
        if (to !== undefined) jumps.push({ from, to, lane: 0 });
    });
    const length = (jump: Jump): number => Math.abs(jump.to - jump.from);
    const taken: { first: number; last: number }[][] = [];
    for (const jump of [...jumps].sort((a, b) => length(a) - length(b))) {
        const first = Math.min(jump.from, jump.to);
        const last = Math.max(jump.from, jump.to);
        let lane = 0;
        while (lane < MOST_LANES - 1 && taken[lane]?.some((other) => other.first <= last && first <= other.last))
            lane++;
        jump.lane = lane;
        taken[lane] ??= [];
        taken[lane]?.push({ first, last });
    }
    return jumps;
}

export interface JumpPicture {
    jumps: readonly Jump[];
    /** The height of a row, the scroll position of the rows, and the size of the canvas, px. */
    rowHeight: number;
    top: number;
    width: number;
    height: number;
    color: string;
    /** The selected instruction, whose jumps the page highlights. */
    chosen: number;
    chosenColor: string;
}

export function drawJumps(canvas: HTMLCanvasElement, picture: JumpPicture): void {
    const { width, height, rowHeight, top, chosen } = picture;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = cleanContext(canvas, width, height);
    if (!context) return;
    context.scale(pixelRatio(), pixelRatio());
    const isChosen = (jump: Jump): boolean => jump.from === chosen || jump.to === chosen;
    // Draws highlighted jumps last, above others.
    for (const jump of [...picture.jumps].sort((a, b) => Number(isChosen(a)) - Number(isChosen(b)))) {
        const y = (index: number): number => Math.round((index + 0.5) * rowHeight - top) + 0.5;
        const start = y(jump.from);
        const end = y(jump.to);
        if (Math.max(start, end) < -rowHeight || Math.min(start, end) > height + rowHeight) continue;
        const x = width - 10.5 - jump.lane * LANE_WIDTH;
        const right = width - 1.5;
        context.strokeStyle = isChosen(jump) ? picture.chosenColor : picture.color;
        context.fillStyle = context.strokeStyle;
        context.lineWidth = isChosen(jump) ? 1.5 : 1;
        context.beginPath();
        context.moveTo(right, start);
        context.lineTo(x, start);
        context.lineTo(x, end);
        context.lineTo(right - 3, end);
        context.stroke();
        context.beginPath();
        context.moveTo(right, end);
        context.lineTo(right - 5, end - 3);
        context.lineTo(right - 5, end + 3);
        context.fill();
    }
}
