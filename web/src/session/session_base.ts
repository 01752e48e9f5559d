/** The base of a session, which all its parts may use. */
import type { ReadonlySignal } from '@preact/signals';
import type { Lifetime } from '../base/lifetime';
import type { ProfileInfo } from '../engine/api';
import type { EngineWorker } from '../engine/client';
import type { ComparedSource } from '../engine/download';
import type { Step } from './history';

/** A range, ms after the start of the profile, null for all of it, and threads; `name` is what the threads are called. */
export interface ChosenPart {
    range: [number, number] | null;
    threads: readonly number[];
    name: string;
}

/** What a session asks of the page that shows it. */
export interface Host {
    /** The view has changed: `address` is its query part. */
    write(address: string, step: Step): void;
    /** Goes back to the view before the last step, or does it again; false if there is none. */
    undo(): boolean;
    redo(): boolean;
    /** Lets the user open another profile. */
    chooseFile(): void;
    /** Lets the user choose the base of a comparison with this profile. */
    compareWith(): void;
    /** Opens a comparison of two ranges of this profile, ms after its start. */
    compareRanges(base: [number, number], next: [number, number]): void;
    /** Opens a comparison of two parts of this profile. */
    compareParts(base: ChosenPart, next: ChosenPart): void;
    /** Opens a comparison of two groups of threads: for each thread of this profile, whether it is on the new side. */
    compareThreads(isNew: boolean[], names: [base: string, next: string]): void;
    /** Opens a comparison of these threads with themselves: `query` is its view, whose transforms tell the sides apart. */
    compareIntervals(kept: boolean[], names: [base: string, next: string], query: string): void;
    /** Shows the profile again with symbols that this machine has, or its debuginfod servers. */
    fetchSymbols(): Promise<void>;
    /** Makes the comparison anew, with functions that match by their whole names or without what differs often. */
    matchFunctions(forgives: boolean): void;
}

export interface SessionBase {
    engine: EngineWorker;
    info: ReadonlySignal<ProfileInfo>;
    /** The file that the profile came from; null: the server beside the page. */
    file: File | null;
    /** What the page has made it of, if it is a comparison that is in no file. */
    made: ComparedSource | null;
    host: Host;
    /** The view that it begins with, as the query part of an address says it; '' for the first one. */
    query: string;
    lifetime: Lifetime;
}
