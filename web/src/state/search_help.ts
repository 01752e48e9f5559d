/** What can be typed into the two searches: for the input itself and for the dialog of keys. */
import type { KeyLine } from './key_help';

export interface SearchHelp {
    what: string;
    lines: readonly KeyLine[];
}

export const STACK_SEARCH_HELP: SearchHelp = {
    what: "Samples that have every term somewhere in their stack: in a function's, file's or library's name",
    lines: [
        [['one,two'], 'both terms'],
        [['-term'], 'leaves out samples with it'],
        [['"term"'], 'the whole name'],
        [['/term/'], 'a regular expression'],
        [['lib:term', 'file:term'], 'only in names of libraries, of files'],
    ],
};

export const MARKER_SEARCH_HELP: SearchHelp = {
    what: 'Markers that have one of the terms in their name, category, type or fields',
    lines: [
        [['one,two'], 'either term'],
        [['-term', '-field:term'], 'leaves out markers with it'],
        [['field:term'], 'only in this: name, cat, type, or a field'],
        [['"term"'], 'the whole text'],
        [['/term/'], 'a regular expression'],
    ],
};
