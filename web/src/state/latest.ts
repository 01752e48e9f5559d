/** Work that is only worth doing for the newest state: keys come faster than a large profile answers. */

/** A function that does `work` now, or once more when what is under way is done, however often it is called meanwhile. */
export function latest(work: () => Promise<void>): () => void {
    let isRunning = false;
    let isWanted = false;
    const run = async (): Promise<void> => {
        isRunning = true;
        while (isWanted) {
            isWanted = false;
            await work();
        }
        isRunning = false;
    };
    return () => {
        isWanted = true;
        if (!isRunning) void run();
    };
}
