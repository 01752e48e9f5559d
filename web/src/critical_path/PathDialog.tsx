/** The critical path of a thread in a range. What draws it is loaded when the dialog first opens. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatShare, formatWeight } from '../base/format';
import { messageOf } from '../base/message';
import { plainText } from '../base/plain';
import { useSession } from '../session/context';
import { Dialog } from '../ui/Dialog';

const NAME_LIMIT = 400;
const SENTENCE_LIMIT = 4000;
const NO_WAKERS =
    'This profile has no wakers, so the path would stop at the first wait. ‘sudo prof record’ records wakers.';

function PathView(): JSX.Element {
    const session = useSession();
    const { goToRow, shownPath } = session.criticalPath;
    const holder = useRef<HTMLDivElement>(null);
    const [status, setStatus] = useState(session.info.value.hasWakers ? 'Computing the path…' : NO_WAKERS);
    const threadName = (thread: number): string => session.store.threadInfo(thread)?.name ?? '';
    const wanted = shownPath.value;

    useEffect(() => {
        if (!wanted || !session.info.value.hasWakers) return;
        let isGone = false;
        const drawing = import('./path_tables').catch(() => {
            throw new Error('The critical path could not be loaded. Is prof still running?');
        });
        Promise.all([drawing, session.engine.criticalPath(wanted.thread, ...wanted.range)]).then(
            ([{ drawPath }, path]) => {
                if (isGone || !holder.current) return;
                setStatus(path.rows.length > 0 ? '' : 'The range is empty, so it has no critical path.');
                if (path.rows.length === 0) return;
                const sentence = plainText(path.sentence, SENTENCE_LIMIT);
                drawPath(
                    holder.current,
                    { ...path, sentence },
                    {
                        plain: (text) => plainText(text, NAME_LIMIT),
                        place: session.axisText.placeText,
                        share: formatShare,
                        time: (ms) => formatWeight(ms, 'ms'),
                        threadName,
                        onOpen: goToRow,
                    },
                );
            },
            (error: unknown) => setStatus(messageOf(error)),
        );
        return () => {
            isGone = true;
        };
    }, [wanted]);

    return (
        <div class="path">
            {wanted && (
                <p class="muted">
                    {`Of thread ${plainText(threadName(wanted.thread), NAME_LIMIT)}, from ${session.axisText.placeText(wanted.range[0])} to ${session.axisText.placeText(wanted.range[1])}`}
                </p>
            )}
            {status !== '' && <p role="status">{status}</p>}
            <div ref={holder} />
        </div>
    );
}

export function PathDialog(): JSX.Element {
    return (
        <Dialog name="critical-path" title="Critical path">
            <PathView />
        </Dialog>
    );
}
