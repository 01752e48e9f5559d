/** The page while a profile loads: the progress, or the error. */
import type { JSX } from 'preact';
import { formatBytes } from '../base/format';
import { plainText } from '../base/plain';
import type { Progress } from '../engine/api';
import { ProfileText } from '../ui/text';
import { chooseFile } from './page';

const LONGEST_FILE = 60;

const PHASES: Record<Progress['phase'], string> = {
    download: 'Loading the profile',
    parse: 'Parsing the profile',
    index: 'Building the call tree',
    names: 'Looking up symbols on this machine',
};

/** The start and the end of each phase on the progress bar. */
const PARTS: Record<Progress['phase'], [number, number]> = {
    download: [0, 0.5],
    parse: [0.5, 0.85],
    index: [0.85, 1],
    names: [0, 1],
};

function shareDone(progress: Progress | null): number | null {
    if (!progress || progress.total <= 0) return null;
    const [from, to] = PARTS[progress.phase];
    return from + (to - from) * Math.min(1, Math.max(0, progress.done / progress.total));
}

/** The name of the current phase, and a progress bar. */
export function ProgressBar({ progress }: { progress: Progress | null }): JSX.Element {
    const share = shareDone(progress);
    const sizes = progress && (progress.phase === 'download' || progress.file) && progress.total > 0;
    return (
        <>
            <p>
                {progress?.file
                    ? `Downloading the debug file of ${plainText(progress.file, LONGEST_FILE)}`
                    : PHASES[progress?.phase ?? 'download']}
                {sizes ? ` · ${formatBytes(progress.done)} of ${formatBytes(progress.total)}` : '…'}
            </p>
            <div
                class={share === null ? 'progress unknown' : 'progress'}
                role="progressbar"
                aria-label="Loading"
                aria-valuemin={0}
                aria-valuemax={100}
                {...(share === null ? {} : { 'aria-valuenow': Math.round(share * 100) })}
            >
                <div style={{ transform: `scaleX(${share ?? 1})` }} />
            </div>
        </>
    );
}

export function LoadProgress({ progress }: { progress: Progress | null }): JSX.Element {
    return (
        <div class="alone" role="status">
            <h1>prof</h1>
            <ProgressBar progress={progress} />
        </div>
    );
}

export function LoadFailure({ message }: { message: string }): JSX.Element {
    return (
        <div class="alone" role="alert">
            <h1>Cannot show the profile</h1>
            <p class="error-text">
                <ProfileText text={message} limit={2000} />
            </p>
            <p>
                If prof has stopped, run <code>prof load FILE</code> again: the same file gets the same address. If the
                file is damaged, <code>prof report FILE</code> says where.
            </p>
            <p>
                <button type="button" class="button" onClick={() => window.location.reload()}>
                    Try again
                </button>{' '}
                <button type="button" class="button" onClick={chooseFile}>
                    Open another file (o)
                </button>
            </p>
        </div>
    );
}
