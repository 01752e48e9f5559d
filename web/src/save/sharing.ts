/**
 * Profiles for others: a page in one file, and profiles without personal data. The engine makes both, like `prof
 * export` (lib/export/html_page.h, sanitize.h). This file handles the user's choices.
 */
import { computed, signal } from '@preact/signals';
import type { TreePart } from '../calltree/tree';
import { contained } from '../engine/contained';
import { type ExportRequest, type Sanitizing, SCOPE } from '../engine/exports';
import { Request } from '../session/request';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import { EMPTY_VIEW, encodeView, type View } from '../view/codec';
import { noteValues } from '../view/note_codec';
import { askServer } from '../window/server';
import { openDialog } from '../window/windows';
import type { ExportsPart } from './exports';
import { packed, saveFile } from './exports';

/** The server's path of the page in one file, without a profile. */
const TEMPLATE = 'template.html';

/** The bits of enum sanitize_part (lib/export/sanitize_text.h). */
export const PARTS = [
    { part: 1, label: 'Home directories', hint: 'Home directories in paths become ~' },
    {
        part: 2,
        label: 'User and host names, IP addresses',
        hint: 'From home directories, variables and the recording',
    },
    { part: 4, label: 'URLs', hint: 'URLs become their scheme, such as https://' },
    { part: 8, label: 'Arguments, variables, directory', hint: 'Of the program and of commands in markers' },
    { part: 16, label: 'Source text', hint: 'Source files that the profile contains' },
    { part: 32, label: 'Notes', hint: 'Your notes about ranges and functions' },
] as const;
const ALL_PARTS = 63;
const SOURCE_TEXTS = 16;

export type SharedKind = 'profile' | 'html';

/** A text before and after the removal. */
export interface Example {
    before: string;
    after: string;
}

export interface Preview {
    stays: string[];
    goes: { text: string; examples: Example[] }[];
}

/** Reads the text that sanitize_describe() of lib/export/sanitize.h wrote. */
function readPreview(text: string): Preview {
    const preview: Preview = { stays: [], goes: [] };
    for (const line of text.split('\n')) {
        const rest = line.slice(1);
        const examples = preview.goes[preview.goes.length - 1]?.examples;
        if (line[0] === '+') preview.stays.push(rest);
        else if (line[0] === '-') preview.goes.push({ text: rest, examples: [] });
        else if (line[0] === '~') examples?.push({ before: rest, after: '' });
        else if (line[0] === '=' && examples?.length) (examples[examples.length - 1] as Example).after = rest;
    }
    return preview;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Returns the bytes of a text in UTF-16LE. */
function codeUnits(text: string): Bytes {
    const bytes = new Uint8Array(text.length * 2);
    for (let at = 0; at < text.length; at++) {
        bytes[2 * at] = text.charCodeAt(at);
        bytes[2 * at + 1] = text.charCodeAt(at) >> 8;
    }
    return bytes;
}

type SharingSession = SessionBase & { exports: ExportsPart; store: StorePart; tree: TreePart };

/** Handles the user's selection in the dialog, and describes what it removes. */
function createChoice({ engine, info, store, tree }: SharingSession) {
    const { committedRange, fullRange, previewRange, selectedThreads } = store;

    const kind = signal<SharedKind>('html');
    const parts = signal(ALL_PARTS);
    const onlyThreads = signal(false);
    const onlyRange = signal(false);
    const keepsAllNames = signal(true);
    /** The libraries that keep their names, as the user types them, with commas. */
    const libraryText = signal('');

    const isRangePart = computed(() => (previewRange.value ?? committedRange.value) !== fullRange.value);
    const areThreadsPart = computed(() => selectedThreads.value.length < info.value.threads.length);
    const scope = computed(
        () =>
            (onlyThreads.value && areThreadsPart.value ? SCOPE.threads : 0) |
            (onlyRange.value && isRangePart.value ? SCOPE.range : 0),
    );
    const sanitizing = computed<Sanitizing>(() => {
        const names = libraryText.value.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
        // An empty name matches no library, so the engine hides all names.
        return { parts: parts.value, libraries: keepsAllNames.value ? [] : names.length > 0 ? names : [''] };
    });

    const previewRequest = new Request<Preview>();

    function requestOf(format: SharedKind, part: number, left: Sanitizing | null): ExportRequest {
        const { range, weight } = tree.query.value;
        return { format, table: 'call-tree', range, weight, search: '', scope: part, sanitizing: left };
    }

    /** Requests a preview of what the selection keeps and removes. */
    function askPreview(): void {
        const request = requestOf('profile', scope.value, sanitizing.value);
        previewRequest.ask(async () => {
            await tree.settled();
            await engine.setNotes(noteValues(store.notes.value));
            return readPreview(await engine.exportPreview(tree.queryOf(), request));
        });
    }

    function togglePart(part: number): void {
        parts.value ^= part;
    }

    return {
        kind,
        parts,
        onlyThreads,
        onlyRange,
        keepsAllNames,
        libraryText,
        isRangePart,
        areThreadsPart,
        scope,
        sanitizing,
        previewRequest,
        requestOf,
        askPreview,
        togglePart,
    };
}

export function createSharing(session: SharingSession) {
    const { engine, info } = session;
    const { exported, fileName } = session.exports;
    const { address, view } = session.store;
    const { settled } = session.tree;
    const choice = createChoice(session);
    const { kind, requestOf, sanitizing, scope } = choice;

    async function template(): Promise<Bytes> {
        if (contained?.template) return codeUnits(contained.template);
        const answer = await askServer(TEMPLATE, {});
        if (!answer.ok) throw new Error('Cannot save the page: this server does not offer it as a file');
        return new Uint8Array(await answer.arrayBuffer());
    }

    /**
     * Returns the first view for others, without names, and with the new numbers of the remaining threads. The profile has
     * the notes that remain.
     */
    function viewForOthers(): string {
        const { threads, ...shown }: View = view.value;
        const left = scope.value & SCOPE.threads ? threads.map((_, at) => at) : threads;
        const others =
            scope.value & SCOPE.threads ? { ...EMPTY_VIEW, tab: shown.tab, inverted: shown.inverted } : shown;
        const shared = { ...others, threads: left, search: '', markerSearch: '', profileName: '', notes: null };
        return encodeView(shared, info.value.rangeStart, info.value.funcCount);
    }

    async function save(format: SharedKind, part: number, left: Sanitizing | null, shown: string): Promise<void> {
        const what = left ? 'sanitized' : 'page';
        await settled();
        const page = format === 'html' ? await template() : new Uint8Array();
        const json = await exported(requestOf(format, part, left));
        const gzip = await packed(json);
        if (format === 'profile') {
            saveFile(gzip, fileName(what, 'json.gz'));
            return;
        }
        const hasSources = left === null || (left.parts & SOURCE_TEXTS) === 0;
        const html = await engine.htmlPage({
            template: page,
            gzip: new Uint8Array(await gzip.arrayBuffer()),
            view: shown,
            hasSources,
        });
        saveFile(new Blob([html], { type: 'text/html' }), fileName(what, 'html'));
    }

    /** Saves the page with the whole profile as one file. */
    function savePage(): Promise<void> {
        return save('html', 0, null, address());
    }

    /** Saves what the dialog selects. */
    function saveSanitized(): Promise<void> {
        return save(kind.value, scope.value, sanitizing.value, viewForOthers());
    }

    function openSharing(): void {
        openDialog.value = 'share';
    }

    return { ...choice, savePage, saveSanitized, openSharing };
}

export type SharingPart = ReturnType<typeof createSharing>;
