/** Steps through the results of a search, cyclically. */

/** The next or the previous of some rising numbers, seen from `at`, around the end. */
export function nextAround(numbers: readonly number[], at: number, by: 1 | -1): number | undefined {
    if (by > 0) return numbers.find((number) => number > at) ?? numbers[0];
    return [...numbers].reverse().find((number) => number < at) ?? numbers[numbers.length - 1];
}
