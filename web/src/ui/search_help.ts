/** The syntax of both searches, for the input and for the dialog of keys. */

/** A line of the help: keys or mouse actions, and their meaning. */
export type KeyLine = [keys: string[], meaning: string];

export interface SearchHelp {
    what: string;
    lines: readonly KeyLine[];
}

export const STACK_SEARCH_HELP: SearchHelp = {
    what: 'Samples whose stack matches every term, by the name of a function, file or library',
    lines: [
        [['one,two'], 'both terms'],
        [['-term'], 'exclude samples that match'],
        [['"term"'], 'match the whole name'],
        [['/term/'], 'a regular expression'],
        [['lib:term', 'file:term'], 'match only library names or file names'],
        [['args:term'], 'match names with their parameters and template arguments'],
        [['Enter', 'n', 'N'], 'go to the first, the next, the previous row that matches'],
        [['Ctrl+Enter'], 'merge all functions that match one of the terms'],
    ],
};

export const GROUP_SEARCH_HELP: SearchHelp = {
    what: 'Functions are in the group of the first pattern that they match',
    lines: [
        [['one,two'], 'two groups'],
        [['"term"'], 'match the whole name'],
        [['/term/'], 'a regular expression'],
        [['lib:term', 'file:term'], 'match only library names or file names'],
    ],
};

export const MARKER_SEARCH_HELP: SearchHelp = {
    what: 'Markers that match one of the terms in their name, category, type or fields',
    lines: [
        [['one,two'], 'either term'],
        [['-term', '-field:term'], 'exclude markers that match'],
        [['field:term'], 'match only the name, category, type or one field'],
        [['"term"'], 'match the whole text'],
        [['/term/'], 'a regular expression'],
    ],
};
