/** The menu of all that can be saved: the profile, the page, formats of other tools, images and tables. */

import { act, type MenuItem, menuItem } from '../window/windows';
import { EXPORT_FORMATS, type ExportFormat, type ExportsPart } from './exports';
import type { ProfilePart } from './profile';
import type { SharingPart } from './sharing';

export interface Savers {
    exports: ExportsPart;
    profile: ProfilePart;
    sharing: SharingPart;
}

/** Formats of other tools. The menu has svg among the images, and csv among the tables. */
const OF_OTHERS = EXPORT_FORMATS.filter(({ format }) => format !== 'svg' && format !== 'csv');

export function saveMenuItems({ exports, profile, sharing }: Savers): MenuItem[] {
    const { saveAs, saveFlameSvg, saveTimeline, saveView } = exports;
    const asFormat = (format: ExportFormat | undefined): void => {
        if (format) act(saveAs(format));
    };
    return [
        menuItem('Profile', () => act(profile.saveProfile()), {
            group: 'This recording',
            detail: 'Ctrl+S',
            title: 'The profile file, with your notes',
        }),
        menuItem('Web page of this view', () => act(sharing.savePage()), {
            detail: '.html',
            title: 'One file with page, engine and profile; any browser opens it, without server or network',
        }),
        menuItem('Without personal data…', sharing.openSharing, {
            title: 'A profile or web page without home directories, user and host names, arguments and more; first lists the removed data',
        }),
        ...OF_OTHERS.map((format, at) =>
            menuItem(format.label, () => asFormat(format), {
                ...(at === 0 ? { group: 'The current view, for other tools' } : {}),
                detail: `.${format.ending}`,
                title: format.hint,
            }),
        ),
        menuItem('This view as an image', saveView, {
            group: 'Images and tables',
            detail: '.png',
            title: 'The visible part of this view',
        }),
        menuItem('Timeline as an image', saveTimeline, { detail: '.png', title: 'The visible part of the timeline' }),
        menuItem('Flame graph', saveFlameSvg, {
            detail: '.svg',
            title: 'The whole flame graph, which zooms and searches in any browser',
        }),
        menuItem('Table of this view', () => asFormat(EXPORT_FORMATS.find(({ format }) => format === 'csv')), {
            detail: '.csv',
            title: 'All rows, for spreadsheets',
        }),
    ];
}
