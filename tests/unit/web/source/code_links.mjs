// Lines and their instructions, and what these cost.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ callTarget, costliestLine, costsOfInstructions, hottestOf, instructionsOfLine, linesOfInstruction }] = await loadParts(['source/code_links']);

const at = (file, line) => ({ func: 'f', file, line });
/** Instruction 1 comes from line 7, into which the compiler has put line 3 of the same file; 2 from another file; 3 from no line. */
const CODE = { places: [[at('a.c', 1)], [at('a.c', 7), at('a.c', 3)], [at('b.c', 7)], [at('a.c', 0)], [at('a.c', 7)]] };

await check('an instruction has the lines of the file that it comes from, the innermost last', () => {
    const lines = (index, file = 'a.c') => linesOfInstruction(CODE, index, file).join();
    assertEqual([lines(0), lines(1), lines(2), lines(3), lines(9)].join('|'), '1|7,3|||', 'the lines');
    assertEqual(lines(2, 'b.c'), '7', 'another file');
    assertEqual(linesOfInstruction({ places: [[at('', 5)]] }, 0, '').join(), '', 'no file');
    assertEqual(linesOfInstruction(null, 0, 'a.c').join(), '', 'no code');
});

await check('a line has all instructions that come from it', () => {
    const instructions = (line, file = 'a.c') => [...instructionsOfLine(CODE, line, file)].join();
    assertEqual([instructions(7), instructions(3), instructions(1), instructions(4)].join('|'), '1,4|1|0|', 'the instructions');
    assertEqual([instructions(0), [...instructionsOfLine(null, 7, 'a.c')].join()].join('|'), '|', 'no line, no code');
});

const cost = (address, total, self) => ({ address, total, self });

await check('costs belong to the instruction at their address', () => {
    const costs = costsOfInstructions([{ address: 16 }, { address: 20 }, { address: 23 }], [cost(20, 5, 2), cost(21, 9, 9), cost(16, 1, 0)]);
    assertEqual(JSON.stringify([...costs]), '[[1,{"address":20,"total":5,"self":2}],[0,{"address":16,"total":1,"self":0}]]', 'the costs');
});

await check('the hottest instruction has the most self time, then total time, then is the first', () => {
    const costs = new Map([[1, cost(0, 50, 2)], [2, cost(0, 10, 3)], [3, cost(0, 11, 3)], [4, cost(0, 11, 3)]]);
    assertEqual(hottestOf([1, 2, 3, 4], costs), 3, 'of four');
    assertEqual(hottestOf([0, 5], new Map([[5, cost(0, 1, 0)]])), 5, 'one costs nothing');
    assertEqual([hottestOf([0, 9], costs), hottestOf([], costs)].join(), '0,-1', 'none costs anything, and none');
});

await check('the costliest line has the largest total, or change, then self time, then is the first', () => {
    const line = (number, total, self) => ({ line: number, total, self });
    assertEqual(costliestLine([line(0, 99, 99), line(4, 5, 1), line(9, 7, 0), line(8, 7, 0)]), 8, 'by total, and the first');
    assertEqual(costliestLine([line(1, 5, 1), line(3, 5, 0)]), 1, 'by self time');
    assertEqual(costliestLine([line(4, 5, 1), line(3, -6, 0), line(2, -6, -2)]), 2, 'changes by their size');
    assertEqual([costliestLine([]), costliestLine([line(0, 9, 9)])].join(), '0,0', 'no line');
});

await check('calls and jumps to another function have their target', () => {
    const targets = [
        ['call 0x1b30 <trace(Ray)>', '6960 trace(Ray)'],
        ['bnd jmp 0x1030 <puts@plt>', '4144 puts@plt'],
        ['callq 0x40 <f+0x10>', '64 f+0x10'],
        ['jne 0x12e8 <divide>', '4840 divide'],
        ['bl 0x640 <puts@plt>', '1600 puts@plt'],
        ['b 0x7c4 <std::map<int, int>::at(int)>', '1988 std::map<int, int>::at(int)'],
        ['blx 0x10 <f>', '16 f'],
        ['call rax', ''],
        ['jmp 0x12f5', ''],
        ['mov eax, 0x10 <f>', ''],
        ['', ''],
    ];
    for (const [text, expected] of targets) {
        const target = callTarget(text);
        assertEqual(target ? `${target.address} ${target.name}` : '', expected, text);
    }
});
