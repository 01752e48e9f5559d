/** The name of the profile, and saving the profile as a file. */
import { computed } from '@preact/signals';
import { messageOf } from '../base/message';
import { plainText } from '../base/plain';
import type { TreePart } from '../calltree/tree';
import { contained } from '../engine/contained';
import type { ExportRequest } from '../engine/exports';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import { askServer } from '../window/server';
import { isRenaming, saveAddress, saveBlob, showNotice } from '../window/windows';
import { type ExportsPart, packed } from './exports';

const LONGEST_NAME = 100;

/** Removes characters that some file systems refuse. */
function fileNameOf(name: string): string {
    const plain = plainText(name, LONGEST_NAME).replace(/[\\/:*?"<>|\s⟨⟩…]+/g, ' ');
    return plain.trim().replace(/^\.+/, '').replace(/ /g, '-') || 'profile';
}

// ---- saving ----

/** The server's path of the profile in its saved form, compressed or not. */
const SAVED = 'saved';
const ENDINGS: Record<string, string> = { 'application/gzip': '.json.gz', 'application/json': '.json' };

/** Returns the ending of a file's name, such as ".json.gz". */
function endingOf(name: string): string {
    return /(\.[a-z]\w{0,5})?\.\w{1,6}$/i.exec(name)?.[0] ?? '';
}

export function createProfile(session: SessionBase & { exports: ExportsPart; store: StorePart; tree: TreePart }) {
    const { file, info, made } = session;
    const { changeView, view } = session.store;
    const { query, settled } = session.tree;

    /** The name of the profile: the user's name, else the name in the profile. */
    const profileName = computed<string>(() => view.value.profileName || info.value.product || 'profile');

    function renameProfile(name: string): void {
        isRenaming.value = false;
        const wanted = name.trim() === info.value.product ? '' : name.trim();
        if (wanted !== view.value.profileName) changeView({ profileName: wanted }, 'push');
    }

    /** Saves a comparison that the page made, or a profile with changed notes, which the engine writes. */
    async function saveMade(name: string): Promise<void> {
        await settled();
        const { range, weight } = query.value;
        const whole: ExportRequest = {
            format: 'profile',
            table: 'call-tree',
            range,
            weight,
            search: '',
            scope: 0,
            sanitizing: null,
        };
        saveBlob(await packed(await session.exports.exported(whole)), `${name}.json.gz`);
    }

    /**
     * Saves the profile under the view's name. If the page loaded the profile from a file and has no new notes, saves the
     * same bytes.
     */
    async function saveProfile(): Promise<void> {
        const name = fileNameOf(profileName.value);
        if (made || view.value.notes) return saveMade(name);
        if (file) {
            saveBlob(file, name + endingOf(file.name));
            return;
        }
        if (contained?.profile) {
            saveBlob(contained.profile, `${name}.json.gz`);
            return;
        }
        try {
            const answer = await askServer(SAVED, { method: 'HEAD' });
            if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
            saveAddress(SAVED, name + (ENDINGS[answer.headers.get('Content-Type') ?? ''] ?? '.jslb'));
        } catch (error) {
            showNotice(`Cannot save the profile: ${messageOf(error)}`);
        }
    }

    return {
        profileName,
        renameProfile,
        saveProfile,
    };
}

export type ProfilePart = ReturnType<typeof createProfile>;
