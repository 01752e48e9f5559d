/** The critical path of a thread in a range. Loaded when the dialog opens. */
import type { JSX } from 'preact';
import { plainText } from '../base/plain';
import { useSession } from '../session/context';
import { useRequest } from '../ui/use';
import type { Range } from '../view/codec';
import { PathTables } from './PathTables';

const NAME_LIMIT = 400;
const NO_WAKERS =
    'This profile has no wakers, so the path would stop at the first wait. ‘sudo prof record’ records wakers.';

export function PathView(): JSX.Element {
    const { axisText, criticalPath, engine, info, store } = useSession();
    const wanted = criticalPath.shownPath.value;
    const isWanted = wanted && info.value.hasWakers;
    const request = useRequest(
        isWanted
            ? () =>
                  'query' in wanted
                      ? engine.slowestPaths(wanted.query)
                      : engine.criticalPath(wanted.thread, ...wanted.range)
            : null,
        [wanted],
    );
    const path = request.value.value;
    const textOf = ({ thread, range }: { thread: number; range: Range }): string => {
        const [from, to] = range.map(axisText.placeText);
        return `Of thread ${plainText(store.threadInfo(thread)?.name ?? '', NAME_LIMIT)}, from ${from} to ${to}`;
    };
    return (
        <div class="path">
            {wanted && <p class="muted">{'query' in wanted ? 'Of the slowest intervals' : textOf(wanted)}</p>}
            {path && path.rows.length > 0 ? (
                <PathTables path={path} />
            ) : (
                <p role="status">
                    {!isWanted
                        ? NO_WAKERS
                        : request.error.value ||
                          (path ? 'The range is empty, so it has no critical path.' : 'Computing the path…')}
                </p>
            )}
        </div>
    );
}
