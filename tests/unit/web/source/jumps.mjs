// Jumps in machine code, and their arrows.
import { loadParts, random } from '../../../e2e/page_modules.mjs';
import { assert, assertEqual, check } from '../../../e2e/page_tap.mjs';

const [jumps] = await loadParts(['source/jumps']);

await check('jumps are told from calls and from jumps to where a register says', () => {
    const targets = [
        ['jmp 0x12f5 <divide+0x25>', 0x12f5],
        ['jne 0x12e8', 0x12e8],
        ['loop 0x40 <f+0x10>', 0x40],
        ['b.ne 0x7c4 <main+0x34>', 0x7c4],
        ['b 0x7c4', 0x7c4],
        ['cbz x0, 0x7d0 <main+0x40>', 0x7d0],
        ['tbnz w1, #3, 0x7d8', 0x7d8],
        ['bne 0x104fc <main+0x2c>', 0x104fc],
        ['call 0x1030 <puts@plt>', null],
        ['bl 0x640 <puts@plt>', null],
        ['blx 0x640', null],
        ['jmp rax', null],
        ['jmp qword ptr [rip + 0x2fe2] # 0x4018 <puts@got>', null],
        ['br x16', null],
        ['bt eax, 0', null],
        ['mov eax, 0x10', null],
    ];
    for (const [text, target] of targets) assertEqual(jumps.jumpTarget(text), target, `target of ${text}`);
});

await check('jumps that overlap are in lanes of their own, short ones inside', () => {
    const count = 60;
    for (let round = 0; round < 200; round++) {
        const instructions = Array.from({ length: count }, (_, i) => ({
            address: i * 4,
            texts: [random(8) === 0 ? `jmp 0x${(random(count + 3) * 4).toString(16)}` : 'nop'],
        }));
        const found = jumps.layoutJumps(instructions);
        const wanted = instructions.filter(({ texts: [text] }) => text !== 'nop' && Number(text.slice(4)) < count * 4);
        assertEqual(found.length, wanted.length, 'number of jumps');
        for (const one of found) {
            assertEqual(instructions[one.from].texts[0], `jmp 0x${instructions[one.to].address.toString(16)}`, 'a jump');
            const [first, last] = [Math.min(one.from, one.to), Math.max(one.from, one.to)];
            for (const other of found) {
                const overlaps = Math.min(other.from, other.to) <= last && first <= Math.max(other.from, other.to);
                const isLast = one.lane === jumps.MOST_LANES - 1;
                assert(one === other || !overlaps || isLast || one.lane !== other.lane, 'two jumps are in one lane');
            }
            for (let lane = 0; lane < one.lane; lane++) {
                const length = (jump) => Math.abs(jump.to - jump.from);
                const inside = found.filter((other) => other.lane === lane && length(other) <= length(one));
                const hits = inside.some((other) => Math.min(other.from, other.to) <= last && first <= Math.max(other.from, other.to));
                assert(hits, `there is room in lane ${lane} for a jump in lane ${one.lane}`);
            }
        }
    }
});
