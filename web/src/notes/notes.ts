/** The notes of the user about ranges and functions, which the address and saved profiles have. */
import { signal } from '@preact/signals';
import { tableText } from '../base/table_text';
import type { AxisTextPart } from '../session/axis_text';
import type { NamesPart } from '../session/names';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import { MOST_NOTES, type Note, noteValues } from '../view/note_codec';
import { copyText, showNotice } from '../window/windows';

export function createNotes(session: SessionBase & { axisText: AxisTextPart; names: NamesPart; store: StorePart }) {
    const { engine } = session;
    const { fetchNames, funcName, shownName } = session.names;
    const { changeView, committedRange, fullRange, notes, previewRange } = session.store;

    /** The index of a note that the user just added and did not write yet, or -1. */
    const added = signal(-1);

    function setNotes(next: readonly Note[]): void {
        changeView({ notes: next }, 'push');
    }

    function add(note: Note): void {
        if (notes.value.length >= MOST_NOTES) {
            showNotice(`A profile has at most ${MOST_NOTES} notes`);
            return;
        }
        added.value = notes.value.length;
        changeView({ notes: [...notes.value, note], tab: 'notes' }, 'push');
    }

    /** Adds a note about the selected range, or the shown range without a selection. */
    function addRange(): void {
        add({ range: previewRange.value ?? committedRange.value, func: -1, name: '', library: '', comment: '' });
    }

    function addFunction(func: number): void {
        const { name = '', lib: library = '' } = funcName(func) ?? {};
        add({ range: null, func, name, library, comment: '' });
    }

    function changeNote(at: number, change: Partial<Pick<Note, 'name' | 'comment'>>): void {
        setNotes(notes.value.map((note, index) => (index === at ? { ...note, ...change } : note)));
    }

    function removeNote(at: number): void {
        setNotes(notes.value.filter((_, index) => index !== at));
        showNotice('Note deleted. Ctrl+Z brings it back.');
    }

    /** Returns the function of a note in this profile, which may be another profile than that of the note, or -1. */
    async function funcOf(note: Note): Promise<number> {
        const { func, name, library } = note;
        if (func >= 0) await fetchNames([func]);
        const own = funcName(func);
        if (own && (name === '' || (own.name === name && own.lib === library))) return func;
        const found = await engine.setNotes(noteValues(notes.value));
        return found[notes.value.indexOf(note)]?.func ?? -1;
    }

    /** Selects the range in the whole timeline, or shows the function between its callers and its callees. */
    async function goTo(note: Note): Promise<void> {
        if (note.range) {
            changeView({ ranges: [], preview: note.range }, 'push');
            return;
        }
        const index = await funcOf(note);
        if (index < 0) showNotice(`This profile has no function ${placeOf(note)}`);
        else changeView({ tab: 'butterfly', center: { kind: 'function', index } }, 'push');
    }

    /** Returns the functions of notes without their names. */
    function unnamedFuncs(): number[] {
        return notes.value.flatMap(({ func, name }) => (func >= 0 && name === '' ? [func] : []));
    }

    /** Describes the range or the function of a note. */
    function placeOf({ range, func, name }: Note): string {
        if (!range) return name || shownName(func);
        const [from, to] = range.map(session.axisText.placeText);
        return range[0] <= fullRange.value[0] && range[1] >= fullRange.value[1] ? 'Full range' : `${from} – ${to}`;
    }

    async function copyNotes(): Promise<void> {
        await fetchNames(unnamedFuncs());
        const rows = notes.value.map((note) =>
            [placeOf(note), note.range ? note.name : '', note.comment].map((text) => ({ text })),
        );
        const titles = ['Range or function', 'Name', 'Comment'];
        await copyText(tableText({ titles, numbers: titles.map(() => false), rows }, 'markdown'), 'Notes');
    }

    return { notes, added, addRange, addFunction, changeNote, removeNote, goTo, unnamedFuncs, placeOf, copyNotes };
}

export type NotesPart = ReturnType<typeof createNotes>;
