/** Work that is only worth doing for the newest state: keys come faster than a large profile answers. */
import { type Signal, untracked } from '@preact/signals';
import { messageOf } from '../text/message';

/**
 * A function that does `work` now, or once more when what is under way is done, however often it is called meanwhile.
 * `error` gets a sentence about what went wrong, '' if nothing did. An effect that calls it depends on nothing that `work`
 * reads.
 */
export function latest(work: () => Promise<void>, error: Signal<string>): () => void {
    let isRunning = false;
    let isWanted = false;
    const run = async (): Promise<void> => {
        isRunning = true;
        while (isWanted) {
            isWanted = false;
            try {
                await untracked(work);
                error.value = '';
            } catch (thrown) {
                error.value = messageOf(thrown);
            }
        }
        isRunning = false;
    };
    return () => {
        isWanted = true;
        if (!isRunning) void run();
    };
}
