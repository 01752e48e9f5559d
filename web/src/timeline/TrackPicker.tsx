/** The list of all tracks with a search, which shows and hides single tracks or all matches. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Session } from '../app/session';
import { formatCount } from '../base/format';
import { useSession } from '../session/context';
import { Picker } from '../ui/Picker';
import { ProfileText } from '../ui/text';
import { groupTracks, matchingTracks, type TrackSeed } from '../view/tracks';
import { isTrackListOpen } from '../window/windows';
import { busyText } from './Track';

const LABEL_LIMIT = 120;

/** Returns all tracks in the order of the timeline, each with the tracks below it. */
function allInOrder(session: Session): TrackSeed[] {
    const { trackSeeds, view } = session.store;
    const seeds = trackSeeds.value;
    const below = new Map<string, TrackSeed[]>();
    for (const seed of seeds) {
        const list = below.get(seed.below);
        if (list) list.push(seed);
        else if (seed.below !== '') below.set(seed.below, [seed]);
    }
    const withBelow = (seed: TrackSeed): TrackSeed[] => [seed, ...(below.get(seed.key) ?? []).flatMap(withBelow)];
    return groupTracks(seeds, view.value.tracks.order).flatMap((group) => group.seeds.flatMap(withBelow));
}

function Action({ label, isOff, action }: { label: string; isOff?: boolean; action: () => void }): JSX.Element {
    return (
        <button type="button" class="button" disabled={isOff ?? false} onClick={action}>
            {label}
        </button>
    );
}

function Actions({ found, isAll }: { found: readonly TrackSeed[]; isAll: boolean }): JSX.Element {
    const { hide, show, showAll, showBusy, showOnly } = useSession().trackActions;
    const keys = found.map((seed) => seed.key);
    if (isAll)
        return (
            <div class="picker-actions">
                <Action label="Show all" action={showAll} />
                <Action label="Show the busiest" action={showBusy} />
            </div>
        );
    const isNone = keys.length === 0;
    return (
        <div class="picker-actions">
            <Action label="Show these" isOff={isNone} action={() => show(keys)} />
            <Action label="Hide these" isOff={isNone} action={() => hide(keys)} />
            <Action label="Show only these" isOff={isNone} action={() => showOnly(keys)} />
        </div>
    );
}

export function TrackPicker(): JSX.Element | null {
    const session = useSession();
    const { tracks } = session.store;
    const { timeOf } = session.trackTimes;
    const { hide, show, showOnly } = session.trackActions;
    const [text, setText] = useState('');
    if (!isTrackListOpen.value) return null;
    const close = (): void => {
        isTrackListOpen.value = false;
        setText('');
    };
    const found = matchingTracks(allInOrder(session), text);
    const shown = new Set(tracks.value.rows.map((row) => row.key));
    return (
        <Picker
            name="tracks"
            label="Search tracks by name, PID or TID"
            placeholder="Search tracks (comma = or)"
            text={text}
            items={found}
            keyOf={(seed) => seed.key}
            isOn={(seed) => shown.has(seed.key)}
            onText={setText}
            onChoose={(seed, held) => {
                if (!seed) return;
                const { key } = seed;
                if (held.ctrl) showOnly([key]);
                else if (shown.has(key)) hide([key]);
                else show([key]);
            }}
            onClose={close}
            actions={<Actions found={found} isAll={text.trim() === ''} />}
            hint={
                <>
                    <span>
                        <kbd>Enter</kbd> show or hide
                    </span>
                    <span>
                        <kbd>Ctrl+Enter</kbd> show only this
                    </span>
                    <span class="picker-count">
                        {`${formatCount(tracks.value.count)} of ${formatCount(tracks.value.total)} shown`}
                    </span>
                </>
            }
            empty="No track matches by name, PID or TID."
            render={(seed) => (
                <>
                    <span class={shown.has(seed.key) ? 'tick-mark on' : 'tick-mark'} aria-hidden="true" />
                    <span class={seed.isLead ? 'picker-name' : 'picker-name indented'}>
                        <ProfileText text={seed.title} limit={LABEL_LIMIT} />
                    </span>
                    <span class="picker-detail">
                        <ProfileText text={seed.detail || (seed.isLead ? '' : seed.processName)} limit={LABEL_LIMIT} />
                    </span>
                    <span class="picker-amount">{busyText(session, seed.members.length, timeOf(seed.members))}</span>
                </>
            )}
        />
    );
}
