/** Steps through the results of a search, cyclically. */

/**
 * Returns the next or the previous of ascending numbers after `at`. After the last number, continues with the first.
 */
export function nextAround(numbers: readonly number[], at: number, by: 1 | -1): number | undefined {
    if (by > 0) return numbers.find((number) => number > at) ?? numbers[0];
    return [...numbers].reverse().find((number) => number < at) ?? numbers[numbers.length - 1];
}
