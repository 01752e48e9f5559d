/** The notes of the user about ranges and functions, which the address has, and a saved profile. */
import { computed, signal } from '@preact/signals';
import { tableText } from '../base/table_text';
import type { AxisTextPart } from '../session/axis_text';
import type { NamesPart } from '../session/names';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import { MOST_NOTES, type Note } from '../view/note_codec';
import { copyText, showNotice } from '../window/windows';

export function createNotes(session: SessionBase & { axisText: AxisTextPart; names: NamesPart; store: StorePart }) {
    const { fetchNames, nameOf, shownName } = session.names;
    const { changeView, committedRange, fullRange, previewRange, view } = session.store;

    const notes = computed<readonly Note[]>(() => view.value.notes ?? []);
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
        add({ range: previewRange.value ?? committedRange.value, func: -1, name: '', comment: '' });
    }

    function addFunction(func: number): void {
        add({ range: null, func, name: nameOf(func), comment: '' });
    }

    function changeNote(at: number, change: Partial<Pick<Note, 'name' | 'comment'>>): void {
        setNotes(notes.value.map((note, index) => (index === at ? { ...note, ...change } : note)));
    }

    function removeNote(at: number): void {
        setNotes(notes.value.filter((_, index) => index !== at));
        showNotice('Note deleted. Ctrl+Z brings it back.');
    }

    /** Selects the range in the whole timeline, or shows the function between its callers and its callees. */
    function goTo({ range, func }: Note): void {
        if (range) changeView({ ranges: [], preview: range }, 'push');
        else if (func >= 0) changeView({ tab: 'butterfly', center: { kind: 'function', index: func } }, 'push');
    }

    /** Describes the range or the function of a note. */
    function placeOf({ range, func, name }: Note): string {
        if (!range) return func < 0 || nameOf(func) === '' ? name || shownName(func) : nameOf(func);
        const [from, to] = range.map(session.axisText.placeText);
        return range[0] <= fullRange.value[0] && range[1] >= fullRange.value[1] ? 'Full range' : `${from} – ${to}`;
    }

    async function copyNotes(): Promise<void> {
        await fetchNames(notes.value.flatMap(({ func }) => (func < 0 ? [] : [func])));
        const rows = notes.value.map((note) =>
            [placeOf(note), note.range ? note.name : '', note.comment].map((text) => ({ text })),
        );
        const titles = ['Range or function', 'Name', 'Comment'];
        await copyText(tableText({ titles, numbers: titles.map(() => false), rows }, 'markdown'), 'Notes');
    }

    return { notes, added, addRange, addFunction, changeNote, removeNote, goTo, placeOf, copyNotes };
}

export type NotesPart = ReturnType<typeof createNotes>;
