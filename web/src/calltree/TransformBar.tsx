/** The transforms of the call tree in order; a click on a transform undoes all later transforms. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Session } from '../app/session';
import { formatCount } from '../base/format';
import { plainText } from '../base/plain';
import type { Transform } from '../engine/api';
import { useSession } from '../session/context';
import { ChevronIcon, CloseIcon } from '../ui/icons';
import { ProfileText } from '../ui/text';
import { act } from '../window/windows';

const NAME_LIMIT = 200;

function Label({ of }: { of: Transform }): JSX.Element {
    const session = useSession();
    const { namesVersion, shownName } = session.names;
    const { describeTransform } = session.transformOffers;
    const { verb, func, other } = describeTransform(of);
    namesVersion.value;
    const name = func < 0 ? other || '(no name)' : shownName(func);
    return (
        <>
            {verb}{' '}
            <strong>
                <ProfileText text={name} limit={NAME_LIMIT} />
            </strong>
        </>
    );
}

function titleOf(session: Session, transform: Transform): string {
    const { shownName } = session.names;
    const { describeTransform } = session.transformOffers;
    const { verb, func, other } = describeTransform(transform);
    return `${verb} ${plainText(func < 0 ? other : shownName(func), 1000)}`;
}

export function TransformBar(): JSX.Element | null {
    const session = useSession();
    const { fetchNames, namesVersion } = session.names;
    const { transforms } = session.store;
    const { describeTransform } = session.transformOffers;
    const { undoTransforms } = session.treeChanges;
    const { baseIntervals = 0, newIntervals = 0 } = session.tree.summary.value ?? {};
    const done = transforms.value;
    namesVersion.value;
    useEffect(() => {
        const funcs = done.map((transform) => describeTransform(transform).func).filter((func) => func >= 0);
        act(fetchNames(funcs));
    }, [done]);
    if (done.length === 0) return null;
    return (
        <nav class="transforms" aria-label="Transforms of the call tree">
            <ol>
                <li>
                    <button type="button" class="link" title="Undo all transforms" onClick={() => undoTransforms(0)}>
                        All stacks
                    </button>
                    <ChevronIcon />
                </li>
                {done.map((transform, at) => (
                    <li key={`${at}:${transform.kind}:${transform.index}:${transform.text ?? ''}`}>
                        {at === done.length - 1 ? (
                            <span class="crumb" aria-current="step" title={titleOf(session, transform)}>
                                <Label of={transform} />
                            </span>
                        ) : (
                            <button
                                type="button"
                                class="link crumb"
                                title={`Back to: ${titleOf(session, transform)}`}
                                onClick={() => undoTransforms(at + 1)}
                            >
                                <Label of={transform} />
                            </button>
                        )}
                        {at < done.length - 1 && <ChevronIcon />}
                    </li>
                ))}
            </ol>
            {session.criticalPath.hasPaths() && done.some(({ slowest, sides }) => slowest && !sides) && (
                <button
                    type="button"
                    class="link"
                    title="What the threads did or waited for during these intervals, also in other threads"
                    onClick={() => session.criticalPath.showSlowestPaths(session.tree.queryOf())}
                >
                    Critical path
                </button>
            )}
            {newIntervals > 0 && (
                <span class="muted" role="status">
                    {done.some(({ sides }) => sides === 'split')
                        ? `Means of ${formatCount(baseIntervals)} other and ${formatCount(newIntervals)} slow intervals`
                        : `Means of ${formatCount(baseIntervals)} and ${formatCount(newIntervals)} intervals`}
                </span>
            )}
            <button
                type="button"
                class="button quiet square small"
                aria-label="Undo the last transform"
                title="Undo the last transform (u)"
                onClick={() => undoTransforms(done.length - 1)}
            >
                <CloseIcon />
            </button>
        </nav>
    );
}
