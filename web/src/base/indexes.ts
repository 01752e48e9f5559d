/**
 * Lists of indexes as digits of five bits, most significant first, one character each: `0` to `v` end a number, `w` to
 * `_` continue it. A number never begins with a zero digit, so a leading `w` means "up to and including": `0w7` is 0 to
 * 7, `5awxc` is 5, 10 to 44.
 */
const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._';
const RANGE_MARK = 'w';
const LONGEST_LIST = 100_000;

function encodeNumber(value: number): string {
    let text = DIGITS.charAt(value % 32);
    for (let rest = Math.floor(value / 32); rest > 0; rest = Math.floor(rest / 32))
        text = DIGITS.charAt(32 + (rest % 32)) + text;
    return text;
}

/** Encodes a list of non-negative integers in any order. Runs of consecutive numbers become ranges. */
export function encodeIndexes(list: readonly number[]): string {
    let text = '';
    for (let i = 0; i < list.length; ) {
        const first = list[i] ?? 0;
        let run = 1;
        while (list[i + run] === first + run) run++;
        text += encodeNumber(first);
        if (run > 2) text += RANGE_MARK + encodeNumber(first + run - 1);
        else if (run === 2) text += encodeNumber(first + 1);
        i += run;
    }
    return text;
}

/** Decodes a list, up to the first invalid character. */
export function decodeIndexes(text: string): number[] {
    const list: number[] = [];
    let value = 0;
    let atStart = true;
    let isRange = false;
    for (const character of text) {
        const digit = DIGITS.indexOf(character);
        if (digit < 0 || list.length >= LONGEST_LIST) break;
        if (atStart && character === RANGE_MARK) {
            isRange = true;
            continue;
        }
        atStart = false;
        value = value * 32 + (digit % 32);
        if (digit >= 32) continue;
        const first = list[list.length - 1];
        if (isRange && first !== undefined)
            for (let i = first + 1; i < value && list.length < LONGEST_LIST; i++) list.push(i);
        list.push(value);
        value = 0;
        atStart = true;
        isRange = false;
    }
    return list.every(Number.isSafeInteger) ? list : [];
}

/** Decodes one index as a decimal number, or returns -1 for none. */
export function decodeIndex(text: string | null): number {
    return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : -1;
}
