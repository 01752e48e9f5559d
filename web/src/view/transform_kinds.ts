/**
 * The transforms in one table: the subject, the code in the address, the key and the labels. lib/tree/transform.h
 * describes their effects.
 */
import type { TransformKind } from '../engine/api';

/** The subject of a transform: an index, the path of a call node, or a search for markers or functions. */
export type TransformSubject = 'function' | 'library' | 'category' | 'node' | 'markers' | 'functions' | 'frames';

export interface TransformOffer {
    key: string;
    /**
     * The label in a menu, which adds the name of a category, or replaces the word "library" with the name; the list of
     * keys shows the label as it is.
     */
    label: string;
    /** A sentence for the tooltip. */
    explanation: string;
    /** Whether the menu has a line above it. */
    startsGroup?: boolean;
}

export interface TransformWords {
    subject: TransformSubject;
    /** The code of the Firefox Profiler; `dc`, `mg`, `fl`, `ml`, `dl`, `fk` and `mm` are prof's own. */
    code: string;
    /** Whether the kind of stacks follows the code. */
    hasStackType?: boolean;
    /** The name of the applied transform, before the name of its subject. */
    verb: string;
    /** The item in the menu of nodes, with the key of the Firefox Profiler, or null for no item. */
    offer: TransformOffer | null;
}

/** The transforms in the order of the menu: by function, by library, by category. */
export const TRANSFORMS: Readonly<Record<TransformKind, TransformWords>> = {
    'merge-function': {
        subject: 'function',
        code: 'mf',
        verb: 'Merge',
        offer: {
            key: 'm',
            label: 'Merge function',
            explanation: 'Removes its frames everywhere; callers get their time',
        },
    },
    'merge-call-node': {
        subject: 'node',
        code: 'mcn',
        hasStackType: true,
        verb: 'Merge row',
        offer: {
            key: 'M',
            label: 'Merge this row only',
            explanation: 'Removes this row; its caller gets its time',
        },
    },
    'focus-function': {
        subject: 'function',
        code: 'ff',
        verb: 'Focus',
        offer: {
            key: 'f',
            label: 'Focus on function',
            explanation: 'Shows only samples with this function, from the function down',
        },
    },
    'focus-subtree': {
        subject: 'node',
        code: 'f',
        hasStackType: true,
        verb: 'Focus on subtree',
        offer: {
            key: 'F',
            label: 'Focus on this subtree only',
            explanation: 'Shows only this row and its descendants',
        },
    },
    'focus-self': {
        subject: 'function',
        code: 'ffs',
        hasStackType: true,
        verb: 'Focus on self',
        offer: {
            key: 'S',
            label: 'Focus on self only',
            explanation: 'Shows only samples whose leaf is this function',
        },
    },
    'collapse-function-subtree': {
        subject: 'function',
        code: 'cfs',
        verb: 'Collapse',
        offer: {
            key: 'c',
            label: 'Collapse function',
            explanation: 'Counts its callees as self time',
        },
    },
    'collapse-recursion': {
        subject: 'function',
        code: 'rec',
        verb: 'Collapse recursion',
        offer: {
            key: 'r',
            label: 'Collapse recursion',
            explanation: 'Merges its frames and all frames between them into one',
        },
    },
    'collapse-direct-recursion': {
        subject: 'function',
        code: 'drec',
        hasStackType: true,
        verb: 'Collapse direct recursion',
        offer: {
            key: 'R',
            label: 'Collapse direct recursion only',
            explanation: 'Merges direct recursive calls into one frame',
        },
    },
    'drop-function': {
        subject: 'function',
        code: 'df',
        verb: 'Drop',
        offer: {
            key: 'd',
            label: 'Drop samples with this function',
            explanation: 'Drops all samples with this function',
        },
    },
    'focus-resource': {
        subject: 'library',
        code: 'fl',
        verb: 'Focus on library',
        offer: {
            key: 'v',
            label: 'Focus on library',
            explanation: 'Removes all frames of other libraries',
            startsGroup: true,
        },
    },
    'merge-resource': {
        subject: 'library',
        code: 'ml',
        verb: 'Merge library',
        offer: {
            key: 'V',
            label: 'Merge library',
            explanation: 'Removes all frames of the library; callers get their time',
        },
    },
    'collapse-resource': {
        subject: 'library',
        code: 'cr',
        hasStackType: true,
        verb: 'Collapse',
        offer: {
            key: 'C',
            label: 'Collapse library',
            explanation: 'Merges all functions of the library into one',
        },
    },
    'drop-resource': {
        subject: 'library',
        code: 'dl',
        verb: 'Drop library',
        offer: {
            key: 'X',
            label: 'Drop samples of library',
            explanation: 'Drops all samples whose leaf is in this library',
        },
    },
    'focus-category': {
        subject: 'category',
        code: 'fg',
        verb: 'Focus on category',
        offer: {
            key: 'g',
            label: 'Focus on category',
            explanation: 'Removes all frames of other categories',
            startsGroup: true,
        },
    },
    'merge-category': {
        subject: 'category',
        code: 'mg',
        verb: 'Merge category',
        offer: {
            key: 'G',
            label: 'Merge category',
            explanation: 'Removes all frames of the category; callers get their time',
        },
    },
    'drop-category': {
        subject: 'category',
        code: 'dc',
        verb: 'Drop category',
        offer: {
            key: 'D',
            label: 'Drop samples of category',
            explanation: 'Drops all samples whose leaf is in this category',
        },
    },
    'focus-frames': {
        subject: 'frames',
        code: 'fk',
        verb: 'Only frames of some kinds',
        offer: null,
    },
    'merge-matching': {
        subject: 'functions',
        code: 'mm',
        verb: 'Merge functions matching',
        offer: null,
    },
    'filter-samples': {
        subject: 'markers',
        code: 'fs',
        verb: 'Only inside markers',
        offer: null,
    },
};

export const TRANSFORM_ENTRIES = Object.entries(TRANSFORMS) as [TransformKind, TransformWords][];
