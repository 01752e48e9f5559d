/** Saves a view or the timeline as an image, the flame graph as SVG, and the samples for other tools. */
import { pixelRatio, styleColor } from '../base/canvas';
import { elementImage } from '../base/element_image';
import { messageOf } from '../base/message';
import type { TreePart } from '../calltree/tree';
import { type ExportRequest, type ExportTable, SHOWN } from '../engine/exports';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import type { Tab } from '../view/codec';
import { noteValues } from '../view/note_codec';
import { act, type MenuItem, menuItem, saveBlob, showNotice } from '../window/windows';

const FILE_NAME_LIMIT = 60;

/** A format that the engine writes (lib/export/exporters.c). */
export interface ExportFormat {
    format: string;
    label: string;
    hint: string;
    ending: string;
    isPacked?: boolean;
}

/** The formats of the Save menu. */
export const EXPORT_FORMATS: readonly ExportFormat[] = [
    {
        format: 'profile',
        label: 'Firefox Profiler',
        hint: 'The processed format, for profiler.firefox.com, samply and prof',
        ending: 'json.gz',
        isPacked: true,
    },
    {
        format: 'pprof',
        label: 'pprof',
        hint: 'For go tool pprof and compatible tools',
        ending: 'pb.gz',
        isPacked: true,
    },
    {
        format: 'speedscope',
        label: 'speedscope',
        hint: 'For speedscope.app: samples in time order',
        ending: 'speedscope.json',
    },
    {
        format: 'collapsed',
        label: 'Collapsed stacks',
        hint: 'One line per stack, for flamegraph.pl and others',
        ending: 'collapsed',
    },
    { format: 'perf-script', label: 'perf script', hint: 'The text format of perf script', ending: 'perf' },
    {
        format: 'chrome-trace',
        label: 'Chrome trace',
        hint: "For Chrome's developer tools and Perfetto",
        ending: 'trace.json',
    },
    { format: 'otlp', label: 'OpenTelemetry', hint: 'OpenTelemetry profiles, v1development', ending: 'otlp' },
    { format: 'jslb', label: 'JSLB', hint: 'The binary form of the processed format', ending: 'jslb' },
    { format: 'svg', label: 'flame graph (SVG)', hint: 'Zooms and searches in any browser', ending: 'svg' },
    { format: 'csv', label: 'table (CSV)', hint: 'All rows, for spreadsheets', ending: 'csv' },
];

/** The table to export on each tab; other tabs export the call tree. */
const TABLES: Partial<Record<Tab, ExportTable>> = {
    functions: 'functions',
    'marker-chart': 'markers',
    'marker-table': 'markers',
    intervals: 'markers',
    waits: 'waits',
};

/** File names for formats that always have the same contents. */
const NAMES: Record<string, string> = { svg: 'flame-graph' };

export function packed(bytes: Uint8Array<ArrayBuffer>): Promise<Blob> {
    return new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'))).blob();
}

export function saveFile(blob: Blob, name: string): void {
    saveBlob(blob, name);
    showNotice(`${name} saved`);
}

export function createExports(session: SessionBase & { store: StorePart; tree: TreePart }) {
    const { engine, info } = session;
    const { view } = session.store;
    const { query, queryOf, settled } = session.tree;

    /** Makes a file name from the name of the recorded program. */
    function fileName(what: string, ending: string): string {
        const product = info.value.product.replace(/[^\w.+-]+/g, '-').replace(/^[-.]+|-+$/g, '');
        return `${product.slice(0, FILE_NAME_LIMIT) || 'profile'}-${what}.${ending}`;
    }

    async function saveImage(selector: string, what: string): Promise<void> {
        const element = document.querySelector(selector);
        if (!element) return;
        try {
            saveFile(await elementImage(element, pixelRatio(), styleColor('surface')), fileName(what, 'png'));
        } catch (error) {
            showNotice(messageOf(error));
        }
    }

    function saveView(): void {
        act(saveImage('#view', view.value.tab));
    }

    function saveTimeline(): void {
        act(saveImage('.timeline', 'timeline'));
    }

    /** Returns the bytes of a file with the samples of the view, and with the notes of the page. */
    async function exported(request: ExportRequest): Promise<Uint8Array<ArrayBuffer>> {
        await engine.setNotes(noteValues(session.store.notes.value));
        return engine.exportFile(queryOf(), request);
    }

    /** Saves the samples of the view in a format of another tool. */
    async function saveAs({ format, ending, isPacked }: ExportFormat): Promise<void> {
        try {
            await settled();
            const { range, weight } = query.value;
            const table = TABLES[view.value.tab] ?? 'call-tree';
            const search = format === 'csv' ? view.value.markerSearch.trim() : query.value.search;
            const request = { format, table, range, weight, search, scope: SHOWN, sanitizing: null };
            const bytes = await exported(request);
            const name = fileName(NAMES[format] ?? (format === 'csv' ? table : 'samples'), ending);
            saveFile(isPacked ? await packed(bytes) : new Blob([bytes]), name);
        } catch (error) {
            showNotice(messageOf(error));
        }
    }

    function saveFlameSvg(): void {
        const svg = EXPORT_FORMATS.find(({ format }) => format === 'svg');
        if (svg) act(saveAs(svg));
    }

    /** Returns the items at the end of a chart's menu. */
    function saveItems(): MenuItem[] {
        const image = menuItem('Save as image', saveView, {
            title: 'The visible part of this view',
            startsGroup: true,
        });
        if (view.value.tab !== 'flame-graph') return [image];
        const svg = menuItem('Save as SVG', saveFlameSvg, {
            title: 'The whole flame graph, which zooms and searches in any browser',
        });
        return [image, svg];
    }

    return {
        fileName,
        exported,
        saveView,
        saveTimeline,
        saveFlameSvg,
        saveAs,
        saveItems,
    };
}

export type ExportsPart = ReturnType<typeof createExports>;
