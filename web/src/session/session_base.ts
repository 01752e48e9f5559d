/** The base of a session, which all parts of the session may use. */
import type { ReadonlySignal } from '@preact/signals';
import type { Lifetime } from '../base/lifetime';
import type { ProfileInfo } from '../engine/api';
import type { EngineWorker } from '../engine/client';
import type { ComparedSource } from '../engine/download';
import type { MarkerGroup } from '../view/marker_groups';
import type { Step } from './history';

/**
 * A range in ms after the start of the profile (null for the whole profile), threads with a name for them, and groups of
 * markers (none for all samples).
 */
export interface ChosenPart {
    range: [number, number] | null;
    threads: readonly number[];
    name: string;
    markers: readonly MarkerGroup[];
}

/** The functions of the page that a session may call. */
export interface Host {
    /** Writes the changed view to the browser's address; `address` is the query part. */
    write(address: string, step: Step): void;
    /** Undoes or repeats a step of the view. Returns false without such a step. */
    undo(): boolean;
    redo(): boolean;
    /** Lets the user open another profile. */
    chooseFile(): void;
    /** Lets the user choose a base to compare with this profile. */
    compareWith(): void;
    /** Opens a comparison of two ranges of this profile, ms after its start. */
    compareRanges(base: [number, number], next: [number, number]): void;
    /** Opens a comparison of two parts of this profile. */
    compareParts(base: ChosenPart, next: ChosenPart): void;
    /** Opens a comparison of two groups of threads. `isNew` has an entry for each thread of this profile. */
    compareThreads(isNew: boolean[], names: [base: string, next: string]): void;
    /**
     * Opens a comparison of these threads with themselves. The transforms of the view `query` distinguish the sides.
     */
    compareIntervals(kept: boolean[], names: [base: string, next: string], query: string): void;
    /** Loads the profile again with symbols from this machine or its debuginfod servers. */
    fetchSymbols(): Promise<void>;
    /** Repeats the comparison, and matches functions by their whole names, or without the parts that often differ. */
    matchFunctions(forgives: boolean): void;
}

export interface SessionBase {
    engine: EngineWorker;
    info: ReadonlySignal<ProfileInfo>;
    /** The file with the profile, or null if the server of the page has the profile. */
    file: File | null;
    /** The sources of a comparison that the page made and no file contains, else null. */
    made: ComparedSource | null;
    host: Host;
    /** The first view as the query part of an address, '' for the default view. */
    query: string;
    lifetime: Lifetime;
}
