/**
 * The dialog that saves a profile for others: the parts to remove, and the effect on this profile. The page loads this
 * file when the user opens the dialog.
 */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { useSession } from '../session/context';
import { Choices } from '../ui/Choices';
import { ProfileText } from '../ui/text';
import { act, openDialog } from '../window/windows';
import { PARTS, type SharedKind } from './sharing';

const KINDS = [
    { value: 'html', label: 'Page (.html)', hint: 'One file that shows the profile in any browser' },
    { value: 'profile', label: 'Profile (.json.gz)', hint: 'For prof, the Firefox Profiler and samply' },
] as const;

interface CheckProps {
    label: string;
    hint: string;
    isOn: boolean;
    isOffered?: boolean;
    onToggle: () => void;
}

function Check({ label, hint, isOn, isOffered = true, onToggle }: CheckProps): JSX.Element {
    return (
        <label class="checkbox share-check" title={hint}>
            <input type="checkbox" checked={isOn} disabled={!isOffered} onChange={onToggle} />
            <span>{label}</span>
        </label>
    );
}

function Parts(): JSX.Element {
    const session = useSession();
    const { parts, togglePart } = session.sharing;
    return (
        <fieldset>
            <legend>Leave out</legend>
            {PARTS.map(({ part, label, hint }) => (
                <Check
                    key={part}
                    label={label}
                    hint={hint}
                    isOn={(parts.value & part) !== 0}
                    onToggle={() => togglePart(part)}
                />
            ))}
        </fieldset>
    );
}

function Limits(): JSX.Element {
    const session = useSession();
    const { info } = session;
    const { areThreadsPart, isRangePart, keepsAllNames, libraryText, onlyRange, onlyThreads } = session.sharing;
    const { committedRange, previewRange, selectedThreads } = session.store;
    const [from, to] = previewRange.value ?? committedRange.value;
    return (
        <fieldset>
            <legend>Keep only</legend>
            <Check
                label={`Selected threads (${selectedThreads.value.length} of ${info.value.threads.length})`}
                hint="Also removes names that only other threads have"
                isOn={onlyThreads.value && areThreadsPart.value}
                isOffered={areThreadsPart.value}
                onToggle={() => {
                    onlyThreads.value = !onlyThreads.value;
                }}
            />
            <Check
                label={
                    isRangePart.value
                        ? `Selected range (${session.axisText.rangeText([from, to])})`
                        : 'Selected range (none)'
                }
                hint="Select a range in the timeline first"
                isOn={onlyRange.value && isRangePart.value}
                isOffered={isRangePart.value}
                onToggle={() => {
                    onlyRange.value = !onlyRange.value;
                }}
            />
            <Check
                label="Names of functions in these libraries:"
                hint="All functions of each other library become one function, (hidden)"
                isOn={!keepsAllNames.value}
                onToggle={() => {
                    keepsAllNames.value = !keepsAllNames.value;
                }}
            />
            <input
                type="text"
                class="share-libraries"
                aria-label="Libraries that keep their names"
                placeholder="app, libc.so* (comma = or)"
                value={libraryText.value}
                disabled={keepsAllNames.value}
                onInput={(event) => {
                    libraryText.value = event.currentTarget.value;
                }}
            />
        </fieldset>
    );
}

const EXAMPLE_LIMIT = 160;

function Preview(): JSX.Element {
    const session = useSession();
    const { askPreview, previewRequest, sanitizing, scope } = session.sharing;
    const wanted = JSON.stringify([sanitizing.value, scope.value]);
    useEffect(askPreview, [wanted]);
    const preview = previewRequest.value.value;
    if (previewRequest.error.value !== '')
        return (
            <p class="error-text" role="alert">
                <ProfileText text={previewRequest.error.value} limit={400} />
            </p>
        );
    if (!preview) return <p class="muted">Scanning the profile …</p>;
    return (
        <div class="share-preview" aria-live="polite">
            <section>
                <h3>Left out</h3>
                <ul>
                    {preview.goes.length === 0 && <li class="muted">Nothing</li>}
                    {preview.goes.map(({ text, examples }) => (
                        <li key={text}>
                            {text}
                            {examples.map(({ before, after }, at) => (
                                <p key={`${at}:${before}`} class="share-example">
                                    <del>
                                        <ProfileText text={before} limit={EXAMPLE_LIMIT} />
                                    </del>{' '}
                                    <ins>
                                        <ProfileText text={after} limit={EXAMPLE_LIMIT} />
                                    </ins>
                                </p>
                            ))}
                        </li>
                    ))}
                </ul>
            </section>
            <section>
                <h3>Stays</h3>
                <ul>
                    {preview.stays.map((text) => (
                        <li key={text}>{text}</li>
                    ))}
                </ul>
            </section>
        </div>
    );
}

export function ShareForm(): JSX.Element {
    const session = useSession();
    const { kind, saveSanitized } = session.sharing;
    return (
        <form
            class="share"
            onKeyDown={(event) => {
                if (event.key !== 'Escape') event.stopPropagation();
            }}
            onSubmit={(event) => {
                event.preventDefault();
                openDialog.value = null;
                act(saveSanitized());
            }}
        >
            <div class="share-columns">
                <div class="share-choices">
                    <Parts />
                    <Limits />
                </div>
                <Preview />
            </div>
            <div class="share-end">
                <Choices<SharedKind>
                    label="Save as"
                    choices={KINDS}
                    value={kind.value}
                    onChoose={(chosen) => {
                        kind.value = chosen;
                    }}
                />
                <button
                    type="button"
                    class="button"
                    onClick={() => {
                        openDialog.value = null;
                    }}
                >
                    Cancel
                </button>
                <button type="submit" class="button primary">
                    Save
                </button>
            </div>
        </form>
    );
}
