/** The list of notes, whose fields the user edits in place. The page loads this file when the user opens the view. */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useSession } from '../session/context';
import { CloseIcon } from '../ui/icons';
import { ProfileText } from '../ui/text';
import { COMMENT_LENGTH, NAME_LENGTH, type Note, noteText } from '../view/note_codec';
import { act } from '../window/windows';

interface FieldProps {
    label: string;
    text: string;
    limit: number;
    onText(text: string): void;
}

function Field({ label, text, limit, onText }: FieldProps): JSX.Element {
    return (
        <input
            type="text"
            aria-label={label}
            placeholder={label}
            value={text}
            maxLength={limit}
            onChange={(event) => onText(noteText(event.currentTarget.value, limit))}
            onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
        />
    );
}

function NoteRow({ note, at }: { note: Note; at: number }): JSX.Element {
    const { added, changeNote, goTo, placeOf, removeNote } = useSession().notes;
    const row = useRef<HTMLLIElement>(null);
    useLayoutEffect(() => {
        if (added.value !== at) return;
        added.value = -1;
        row.current?.querySelector('input')?.focus();
    });
    return (
        <li ref={row} class="note">
            <button
                type="button"
                class="note-place"
                title={note.range ? 'Select this range in the timeline' : 'Show callers and callees'}
                onClick={() => act(goTo(note))}
            >
                <ProfileText text={placeOf(note)} />
            </button>
            {note.range ? (
                <Field label="Name" text={note.name} limit={NAME_LENGTH} onText={(name) => changeNote(at, { name })} />
            ) : (
                <span class="muted">
                    <ProfileText text={note.library} limit={NAME_LENGTH} />
                </span>
            )}
            <Field
                label="Comment"
                text={note.comment}
                limit={COMMENT_LENGTH}
                onText={(comment) => changeNote(at, { comment })}
            />
            <button
                type="button"
                class="button quiet square"
                aria-label="Delete this note"
                title="Delete this note"
                onClick={() => removeNote(at)}
            >
                <CloseIcon />
            </button>
        </li>
    );
}

export function NoteList(): JSX.Element {
    const session = useSession();
    const { addRange, copyNotes, notes, unnamedFuncs } = session.notes;
    session.names.namesVersion.value; // names arrive later
    session.names.fetchMissingNames(unnamedFuncs());
    return (
        <div class="notes">
            <div class="note-actions">
                <button type="button" class="button" title="The selected or shown range (P)" onClick={addRange}>
                    Add a note to this range
                </button>
                <button
                    type="button"
                    class="button"
                    disabled={notes.value.length === 0}
                    onClick={() => act(copyNotes())}
                >
                    Copy as Markdown
                </button>
                <span class="muted">To pin a function, choose Add a note in its menu.</span>
            </div>
            <ul aria-label="Notes">
                {notes.value.map((note, at) => (
                    <NoteRow key={at} note={note} at={at} />
                ))}
            </ul>
        </div>
    );
}
