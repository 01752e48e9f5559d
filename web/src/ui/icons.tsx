/** The page's icons, in the color of the surrounding text. */
import type { JSX } from 'preact';

function Icon({ path, size = 16 }: { path: string; size?: number }): JSX.Element {
    return (
        <svg class="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
            <path
                d={path}
                fill="none"
                stroke="currentColor"
                stroke-width="1.5"
                stroke-linecap="round"
                stroke-linejoin="round"
            />
        </svg>
    );
}

export const SearchIcon = (): JSX.Element => <Icon path="M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.6 10.6 14 14" />;
export const ZoomIcon = (): JSX.Element => (
    <Icon size={14} path="M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.6 10.6 14 14M5 7h4M7 5v4" />
);
export const InfoIcon = (): JSX.Element => (
    <Icon path="M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4ZM8 7.4v3.8M8 4.9v.1" />
);
export const HelpIcon = (): JSX.Element => (
    <Icon path="M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4ZM6.2 6.2a1.8 1.8 0 1 1 2.7 1.6c-.6.3-.9.7-.9 1.4M8 11.4v.1" />
);
export const CloseIcon = (): JSX.Element => <Icon path="M4 4l8 8M12 4l-8 8" />;
export const SunIcon = (): JSX.Element => (
    <Icon path="M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M12.6 3.4l-.7.7M4.1 11.9l-.7.7" />
);
export const MoonIcon = (): JSX.Element => <Icon path="M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1Z" />;
export const SidebarIcon = (): JSX.Element => <Icon path="M2 3h12v10H2ZM10 3v10" />;
export const NoteIcon = (): JSX.Element => <Icon path="M3 2.5h10v7.5L9.5 13.5H3ZM13 10H9.5v3.5M5.5 5.5h5M5.5 8h3" />;
export const CutIcon = (): JSX.Element => <Icon size={12} path="M2 8h2.5M7 8h2M11.5 8H14M8 2v3M8 11v3" />;
export const ChevronIcon = (): JSX.Element => <Icon size={12} path="M6 4l4 4-4 4" />;
export const PreviousIcon = (): JSX.Element => <Icon size={14} path="M4 10l4-4 4 4" />;
export const NextIcon = (): JSX.Element => <Icon size={14} path="M4 6l4 4 4-4" />;
export const FullScreenIcon = (): JSX.Element => <Icon path="M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3" />;
export const OpenIcon = (): JSX.Element => <Icon path="M2 12.5v-9h4l1.5 2H13v2M2 12.5h10.5l2-5h-10Z" />;
export const SaveIcon = (): JSX.Element => <Icon path="M8 2v8M4.8 7 8 10.2 11.2 7M2.5 10.5v3h11v-3" />;
