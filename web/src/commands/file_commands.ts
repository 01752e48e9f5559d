/** Commands that open and save files, and commands that copy or open an address. */
import { contained } from '../engine/contained';
import { EXPORT_FORMATS } from '../save/exports';
import { canFetchSymbols } from '../ui/FetchSymbols';
import { act, copyText, isRenaming, openDialog, saveAddress } from '../window/windows';
import { type Command, command, OPEN_KEY } from './command';
import type { CommandSession } from './commands';

export function imageCommands({ exports }: CommandSession): Command[] {
    return [
        command('Save this view as an image', exports.saveView),
        command('Save the timeline as an image', exports.saveTimeline),
        command('Save the flame graph as SVG', exports.saveFlameSvg),
    ];
}

export function fileCommands(session: CommandSession): Command[] {
    const { openSharing, savePage } = session.sharing;
    const openWindow = (): void => {
        window.open(window.location.href, '_blank', 'noopener');
    };
    const saveLicenses = (): void => saveAddress(contained?.licenses ?? 'licenses.txt', 'prof-licenses.txt');
    const showDetails = (): void => {
        openDialog.value = 'info';
    };
    const rename = (): void => {
        isRenaming.value = true;
    };
    return [
        command('Copy a link to this view', () => act(copyText(window.location.href, 'Link'))),
        command('Recording details', showDetails),
        command('Open a file', session.host.chooseFile, { key: OPEN_KEY }),
        command('Open this view in a new window', openWindow),
        command('Save the profile', () => act(session.profile.saveProfile()), { key: 'Ctrl+s', isEverywhere: true }),
        command('Save this view as a web page', () => act(savePage())),
        command('Save without personal data', openSharing),
        command('Save the licenses of prof', saveLicenses),
        command('Fetch symbols', () => act(session.host.fetchSymbols()), { isOffered: () => canFetchSymbols(session) }),
        command('Rename the profile', rename),
    ];
}

export function exportCommands({ exports }: CommandSession): Command[] {
    return EXPORT_FORMATS.filter(({ format }) => format !== 'svg').map((format) =>
        command(`Save as ${format.label}`, () => act(exports.saveAs(format))),
    );
}
