/** The message of an empty view, with the reason and a solution. */
import type { JSX } from 'preact';
import type { Session } from '../app/session';
import { plainText } from '../base/plain';
import { useSession } from '../session/context';
import { ProfileText } from './text';

interface Reason {
    sentence: string;
    action: string;
    run: () => void;
}

function reasons(session: Session): Reason[] {
    const { changeView, popRanges, previewRange, search, setPreview, transforms, view } = session.store;
    const { undoTransforms } = session.treeChanges;
    const found: Reason[] = [];
    const terms = search.value.trim();
    if (terms !== '')
        found.push({
            sentence: `No stack in this view matches “${plainText(terms, 80)}”.`,
            action: 'Clear the search',
            run: () => changeView({ search: '' }, 'push'),
        });
    const { length } = transforms.value;
    if (length > 0)
        found.push({
            sentence: 'Call tree transforms drop samples.',
            action: 'Undo the last transform',
            run: () => undoTransforms(length - 1),
        });
    if (previewRange.value)
        found.push({
            sentence: 'The selected range may contain no samples.',
            action: 'Clear selection',
            run: () => setPreview(null, 'push'),
        });
    if (view.value.ranges.length > 0)
        found.push({ sentence: 'The timeline is zoomed in.', action: 'Show the full range', run: () => popRanges(0) });
    return found;
}

export function EmptyTree(): JSX.Element {
    const session = useSession();
    const { info } = session;
    const { trustSection } = session.summaryView;
    const found = reasons(session);
    const isWhole = info.value.sampleCount === 0;
    const hint = trustSection.value?.entries.find((entry) => entry.label === 'Hint')?.value ?? '';
    return (
        <div class="empty" role="status">
            <h2>{isWhole ? 'This recording has no samples' : 'No samples here'}</h2>
            {isWhole && (
                <p>
                    {hint !== '' ? (
                        <ProfileText text={`${hint[0]?.toUpperCase()}${hint.slice(1)}.`} limit={400} />
                    ) : (
                        'The program may have ended before the first sample, or it only waited. Record for longer or at a higher rate.'
                    )}
                </p>
            )}
            {found.length === 0 && !isWhole && (
                <p>The selected threads have no samples. Select another thread above.</p>
            )}
            {!isWhole &&
                found.map((reason) => (
                    <p key={reason.action}>
                        {reason.sentence}{' '}
                        <button type="button" class="button" onClick={reason.run}>
                            {reason.action}
                        </button>
                    </p>
                ))}
        </div>
    );
}
