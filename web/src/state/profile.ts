/** The profile as a file: what it is called, and saving it. */
import { computed } from '@preact/signals';
import { messageOf } from '../text/message';
import { plainText } from '../text/plain';
import { askServer } from './server';
import { isRenaming, saveAddress, saveBlob, showNotice } from './windows';
import type { StorePart } from './store';
import type { Given } from './given';

const LONGEST_NAME = 100;

/** A name that every file system takes. */
function fileNameOf(name: string): string {
    const plain = plainText(name, LONGEST_NAME).replace(/[\\/:*?"<>|\s⟨⟩…]+/g, ' ');
    return plain.trim().replace(/^\.+/, '').replace(/ /g, '-') || 'profile';
}

// ---- saving ----

/** Where the server has the profile as it was saved, compressed or not. */
const SAVED = 'saved';
const ENDINGS: Record<string, string> = { 'application/gzip': '.json.gz', 'application/json': '.json' };

/** The ending of a file's name, ".json.gz". */
function endingOf(name: string): string {
    return /(\.[a-z]\w{0,5})?\.\w{1,6}$/i.exec(name)?.[0] ?? '';
}

export function createProfile(session: Given & { store: StorePart }) {
    const { file, info } = session;
    const { changeView, view } = session.store;

    /** What the profile is called: as the user calls it, else as it calls itself. */
    const profileName = computed<string>(() => view.value.profileName || info.value.product || 'profile');

    function renameProfile(name: string): void {
        isRenaming.value = false;
        const wanted = name.trim() === info.value.product ? '' : name.trim();
        if (wanted !== view.value.profileName) changeView({ profileName: wanted }, 'push');
    }

    /** Saves the profile under the view's name: the very bytes that it was loaded from. */
    async function saveProfile(): Promise<void> {
        const name = fileNameOf(profileName.value);
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

    return {
        profileName,
        renameProfile,
        saveProfile,
    };
}

export type ProfilePart = ReturnType<typeof createProfile>;
