/** Opening a file of the user's in place of the profile that is shown, and saving the profile. */
import { computed, effect, signal } from '@preact/signals';
import type { Progress } from '../engine/api';
import { isZip, listZip, type ZipEntry } from '../engine/zip';
import { messageOf } from '../text/message';
import { plainText } from '../text/plain';
import { askServer } from './server';
import { changeView, engine, info, loading, showOther, view } from './store';
import { saveAddress, saveBlob, showNotice } from './windows';

export type Opening =
    | { phase: 'reading'; name: string; progress: Progress | null }
    /** An archive with several files: one is to be chosen. */
    | { phase: 'choosing'; name: string; entries: ZipEntry[] }
    | { phase: 'failed'; name: string; message: string };

/** The file that is being opened; null: none is. */
export const opening = signal<Opening | null>(null);
/** The file that the profile came from; null: the server beside the page. */
export const openedFile = signal<File | null>(null);
/** Whether the product's name is being changed. */
export const isRenaming = signal(false);

function fail(name: string, error: unknown): void {
    opening.value = { phase: 'failed', name, message: messageOf(error) };
}

async function load(source: File | ZipEntry, file: File): Promise<void> {
    const name = source === file ? file.name : `${file.name}: ${source.name}`;
    opening.value = { phase: 'reading', name, progress: null };
    try {
        const profile = await engine.load(source, (progress) => {
            opening.value = { phase: 'reading', name, progress };
        });
        opening.value = null;
        openedFile.value = file;
        showOther(profile);
    } catch (error) {
        fail(name, error);
    }
}

/** What archives have beside what one has put there. */
const OTHER_ENTRY = /(^|\/)(__MACOSX\/|\.)/;

/** Opens a file that was dropped or chosen. What it is, its first bytes say. */
export async function openFile(file: File): Promise<void> {
    if (opening.value?.phase === 'reading') return;
    opening.value = { phase: 'reading', name: file.name, progress: null };
    try {
        if (!(await isZip(file))) return await load(file, file);
        const entries = (await listZip(file)).filter((entry) => !OTHER_ENTRY.test(entry.name));
        const [first] = entries;
        if (!first) throw new Error('The zip archive contains no file');
        if (entries.length === 1) return await load(first, file);
        opening.value = { phase: 'choosing', name: file.name, entries };
    } catch (error) {
        fail(file.name, error);
    }
}

export async function openEntry(entry: ZipEntry): Promise<void> {
    await load(entry, entry.archive);
}

/** Asks for a file. */
export function chooseFile(): void {
    const input = document.createElement('input');
    input.type = 'file';
    input.hidden = true;
    input.onchange = () => {
        const [file] = input.files ?? [];
        input.remove();
        if (file) void openFile(file);
    };
    input.oncancel = () => input.remove();
    document.body.append(input);
    input.click();
}

// ---- names ----

const LONGEST_NAME = 100;

/** What the profile is called: as the user calls it, else as it calls itself. */
export const profileName = computed<string>(() => view.value.profileName || info.value.product || 'profile');

export function renameProfile(name: string): void {
    isRenaming.value = false;
    const wanted = name.trim() === info.value.product ? '' : name.trim();
    if (wanted !== view.value.profileName) changeView({ profileName: wanted }, 'push');
}

/** A name that every file system takes. */
function fileNameOf(name: string): string {
    const plain = plainText(name, LONGEST_NAME).replace(/[\\/:*?"<>|\s⟨⟩…]+/g, ' ');
    return plain.trim().replace(/^\.+/, '').replace(/ /g, '-') || 'profile';
}

/** `titles`: what each view is called, for the title of the window. */
export function followTitle(titles: () => ReadonlyMap<string, string>): void {
    effect(() => {
        if (loading.value.phase !== 'ready') return;
        const title = titles().get(view.value.tab) ?? '';
        document.title = `${plainText(profileName.value, LONGEST_NAME)} · ${title} – prof`;
    });
}

// ---- saving ----

/** Where the server has the profile as it was saved, compressed or not. */
const SAVED = 'saved';
const ENDINGS: Record<string, string> = { 'application/gzip': '.json.gz', 'application/json': '.json' };

/** The ending of a file's name, ".json.gz". */
function endingOf(name: string): string {
    return /(\.[a-z]\w{0,5})?\.\w{1,6}$/i.exec(name)?.[0] ?? '';
}

/** Saves the profile under the view's name: the very bytes that it was loaded from. */
export async function saveProfile(): Promise<void> {
    const name = fileNameOf(profileName.value);
    const file = openedFile.value;
    if (file) {
        saveBlob(file, name + endingOf(file.name));
        return;
    }
    try {
        const answer = await askServer(SAVED, { method: 'HEAD' });
        if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
        saveAddress(SAVED, name + (ENDINGS[answer.headers.get('Content-Type') ?? ''] ?? '.jslb'));
    } catch (error) {
        showNotice(`The profile could not be saved: ${messageOf(error)}`);
    }
}
