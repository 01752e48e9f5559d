/** The command palette: type a few letters of a command, a view, a thread, a function or a marker. */
import type { JSX } from 'preact';
import { piecesInSight, piecesOf } from '../base/highlight';
import { useSession } from '../session/context';
import { Picker } from '../ui/Picker';
import { act, isPaletteOpen } from '../window/windows';

function close(): void {
    isPaletteOpen.value = false;
}

/** Shows a text with the matched letters marked. In a long text, the marks stay visible. */
function Found({ text, marks }: { text: string; marks: (at: number) => boolean }): JSX.Element {
    const pieces = piecesInSight(piecesOf(text, marks));
    return <bdi dir="ltr">{pieces.map((piece) => (piece.marked ? <mark>{piece.text}</mark> : piece.text))}</bdi>;
}

export function Palette(): JSX.Element | null {
    const session = useSession();
    const { namesVersion } = session.names;
    const { chosen, isPaletteBehind, paletteEntries, paletteText } = session.palette;
    namesVersion.value;
    if (!isPaletteOpen.value) return null;
    return (
        <Picker
            name="palette"
            label="Commands, views, threads, functions and markers"
            placeholder="Search commands, views, threads, functions and markers"
            text={paletteText.value}
            items={paletteEntries.value}
            isBehind={isPaletteBehind.value}
            keyOf={(entry) => entry.id}
            onText={(typed) => {
                paletteText.value = typed;
            }}
            onChoose={(entry, held) => {
                if (!entry && !isPaletteBehind.value) return;
                const wanted = held.mouse ? Promise.resolve(entry) : chosen(entry);
                close();
                // The palette returns the focus first, so the opened element can take it.
                act(wanted.then((found) => requestAnimationFrame(() => found?.run(held))));
            }}
            onClose={close}
            hint={
                <>
                    <span>
                        <kbd>Enter</kbd> run or go to
                    </span>
                    <span>
                        <kbd>Ctrl+Enter</kbd> function: filter stacks; thread: add or remove
                    </span>
                </>
            }
            empty="No results"
            render={(entry) => (
                <>
                    <span class="picker-name" title={entry.title}>
                        <Found text={entry.title} marks={entry.titleMarks} />
                    </span>
                    {entry.share !== '' && <span class="picker-amount">{entry.share}</span>}
                    <span class="picker-detail">
                        <Found text={entry.detail} marks={entry.detailMarks} />
                    </span>
                    {entry.keys !== '' && <kbd>{entry.keys}</kbd>}
                    <span class="picker-amount picker-group">{entry.group}</span>
                </>
            )}
        />
    );
}
