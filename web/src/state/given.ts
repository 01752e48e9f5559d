/** What a session begins with, which all its parts may use. */
import type { ReadonlySignal } from '@preact/signals';
import type { ProfileInfo } from '../engine/api';
import type { EngineWorker } from '../engine/client';
import type { Step } from './history';
import type { Lifetime } from './lifetime';

/** What a session asks of the page that shows it. */
export interface Host {
    /** The view has changed: `address` is its query part. */
    write(address: string, step: Step): void;
    /** Goes back to the view before the last step, or does it again; false if there is none. */
    undo(): boolean;
    redo(): boolean;
    /** Lets the user open another profile. */
    chooseFile(): void;
}

export interface Given {
    engine: EngineWorker;
    info: ReadonlySignal<ProfileInfo>;
    /** The file that the profile came from; null: the server beside the page. */
    file: File | null;
    host: Host;
    /** The view that it begins with, as the query part of an address says it; '' for the first one. */
    query: string;
    lifetime: Lifetime;
}
