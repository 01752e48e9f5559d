/** The details of the selected marker: its times, its fields, and the stack that set the marker. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { categoryColor } from '../base/colors';
import { SIDEBAR_LIMIT } from '../base/plain';
import type { MarkerDetails } from '../engine/markers';
import { useSession } from '../session/context';
import { FrameList } from '../ui/FrameList';
import { ProfileText } from '../ui/text';
import { sidebarWidth } from '../window/settings';
import { act } from '../window/windows';
import { durationText, missingEnd, startText } from './marker_parts';

const LABEL_LIMIT = 200;
const MOST_FRAMES = 60;
/** The limit of lines of a table in one field. */
const MOST_LINES = 200;

function Times({ marker }: { marker: MarkerDetails }): JSX.Element {
    const session = useSession();
    const { info } = session;
    const { threadInfo } = session.store;
    const category = info.value.categories[marker.category];
    const thread = threadInfo(marker.thread);
    const isInstant = marker.kind === 'instant';
    const note = missingEnd(marker);
    return (
        <>
            <dl class="origin">
                <div>
                    <dt>{isInstant ? 'At' : 'Start'}</dt>
                    <dd>{startText(session, marker)}</dd>
                </div>
                {!isInstant && (
                    <div>
                        <dt>End</dt>
                        <dd>{session.axisText.placeText(marker.end)}</dd>
                    </div>
                )}
                {!isInstant && (
                    <div>
                        <dt>Duration</dt>
                        <dd>
                            <strong>{durationText(marker)}</strong>
                        </dd>
                    </div>
                )}
                {category && (
                    <div>
                        <dt>Category</dt>
                        <dd>
                            <span class="category-square" style={{ background: categoryColor(category) }} />{' '}
                            <ProfileText text={category.name} limit={LABEL_LIMIT} />
                        </dd>
                    </div>
                )}
                {thread && (
                    <div>
                        <dt>Thread</dt>
                        <dd>
                            <ProfileText text={`${thread.name} (TID ${thread.tid})`} limit={LABEL_LIMIT} />
                        </dd>
                    </div>
                )}
                {marker.type !== '' && marker.type !== marker.name && (
                    <div>
                        <dt>Type</dt>
                        <dd>
                            <ProfileText text={marker.type} limit={LABEL_LIMIT} />
                        </dd>
                    </div>
                )}
            </dl>
            {note !== '' && <p class="explanation">{note}</p>}
        </>
    );
}

function Fields({ marker }: { marker: MarkerDetails }): JSX.Element | null {
    if (marker.fields.length === 0) return null;
    return (
        <section>
            <h3>Fields</h3>
            <dl class="marker-fields long">
                {marker.fields.map((field) => (
                    <div key={field.key}>
                        <dt>
                            <ProfileText text={field.label} limit={LABEL_LIMIT} />
                        </dt>
                        <dd>
                            {field.value.split('\n', MOST_LINES).map((line, at) => (
                                <div key={at}>
                                    <ProfileText text={line} limit={SIDEBAR_LIMIT} />
                                </div>
                            ))}
                        </dd>
                    </div>
                ))}
            </dl>
        </section>
    );
}

function Cause({ marker }: { marker: MarkerDetails }): JSX.Element | null {
    const { fetchNames, namesVersion } = useSession().names;
    namesVersion.value;
    const frames = [...marker.cause].reverse();
    useEffect(() => act(fetchNames(frames.slice(0, MOST_FRAMES))), [marker]);
    if (frames.length === 0) return null;
    return (
        <section>
            <h3>Set by</h3>
            <FrameList frames={frames} most={MOST_FRAMES} nameLimit={LABEL_LIMIT} />
        </section>
    );
}

export function MarkerSidebar(): JSX.Element {
    const { markerDetails } = useSession().markers;
    const marker = markerDetails.value;
    return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        <aside class="sidebar" aria-label="Selected marker" tabIndex={0} style={{ width: `${sidebarWidth.value}px` }}>
            {marker ? (
                <>
                    <h2 class="full-name">
                        <ProfileText text={marker.title || marker.name || '(no name)'} limit={SIDEBAR_LIMIT} />
                    </h2>
                    <Times marker={marker} />
                    <Fields marker={marker} />
                    <Cause marker={marker} />
                    {marker.description !== '' && (
                        <section>
                            <h3>Description</h3>
                            <p class="muted">
                                <ProfileText text={marker.description} limit={SIDEBAR_LIMIT} />
                            </p>
                        </section>
                    )}
                </>
            ) : (
                <>
                    <h2>Nothing selected</h2>
                    <p class="muted">Select a marker to see its fields.</p>
                </>
            )}
        </aside>
    );
}
