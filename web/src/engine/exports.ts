/** Files of other formats, made of a query: a thin layer over lib/wasm/wasm_export.c. */
import type { EngineModule, Pointer } from './module';
import type { Answers } from './protocol';

/** Tables of the format csv: enum export_table of lib/export/exporters.h. */
export const EXPORT_TABLES = [
    'call-tree',
    'functions',
    'libraries',
    'categories',
    'hot-lines',
    'markers',
    'threads',
    'counters',
    'waits',
] as const;
export type ExportTable = (typeof EXPORT_TABLES)[number];

/**
 * The samples in a file: enum export_scope of lib/wasm/wasm_export.c. Without a flag, the file has the whole profile.
 */
export const SCOPE = { threads: 1, range: 2, transforms: 4 } as const;
/** The samples of the query. */
export const SHOWN = SCOPE.threads | SCOPE.range | SCOPE.transforms;

export interface Sanitizing {
    /** Bits of enum sanitize_part (lib/export/sanitize_text.h). */
    parts: number;
    /** Libraries whose functions keep their names. Empty: all functions keep their names. */
    libraries: readonly string[];
}

export interface ExportRequest {
    /** Name of the format for `prof export --format`. */
    format: string;
    table: ExportTable;
    /** Range of the query. */
    range: [number, number] | null;
    weight: string | undefined;
    /** Search of the marker table. */
    search: string;
    scope: number;
    /** Removed data, or null for an unchanged profile. */
    sanitizing: Sanitizing | null;
}

export interface PageRequest {
    /** The template of lib/export/html_page.h. */
    template: Uint8Array;
    /** The compressed profile. */
    gzip: Uint8Array;
    /** The first view of the page, as the query part of an address. */
    view: string;
    /** Whether the page includes the source texts of the open profile. */
    hasSources: boolean;
}

/** A note of the profile: lib/profile/notes.h. */
export interface ProfileNote {
    /** The range, ms, or null in a note about a function. */
    from: number | null;
    to: number | null;
    /** The function, or -1 in a note about a range, and if the profile lacks the function. */
    func: number;
    name: string;
    library: string;
    comment: string;
}

export interface ExportCalls {
    /**
     * Replaces the notes of the profile, which exportFile() writes. Each note has the values [from, to, name, comment] or
     * [function, library, comment]. Returns the notes with the functions of this profile.
     */
    setNotes(notes: readonly (readonly (string | number)[])[]): Promise<ProfileNote[]>;
    /** Returns the bytes of the file, before compression. */
    exportFile(query: number, request: ExportRequest): Promise<Uint8Array<ArrayBuffer>>;
    /** The remaining and the removed data of the file, one line each (sanitize_describe() of lib/export/sanitize.h). */
    exportPreview(query: number, request: ExportRequest): Promise<string>;
    /** Returns a page in one HTML file. */
    htmlPage(request: PageRequest): Promise<Uint8Array<ArrayBuffer>>;
}

interface Functions {
    session_set_notes(session: Pointer, length: number): Pointer;
    session_export(session: Pointer): Pointer;
    session_export_preview(session: Pointer): Pointer;
    session_html_page(
        session: Pointer,
        viewLength: number,
        templateLength: number,
        gzipLength: number,
        hasSources: number,
    ): Pointer;
}

export function exportAnswers(module: EngineModule): Answers<ExportCalls> {
    const { session } = module;
    const wasm = module.functions<Functions>();
    const encoder = new TextEncoder();
    const inputExport = (query: number, request: ExportRequest): void => {
        const { format, table, range, weight, search, scope, sanitizing } = request;
        const texts = [format, search, ...(sanitizing?.libraries ?? [])];
        const bytes = module.encode(texts.map((text) => `${text.replaceAll('\0', '')}\0`).join(''));
        module.inputRequest(
            range ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
            [
                query,
                bytes.length,
                EXPORT_TABLES.indexOf(table),
                module.weightIndex(weight),
                scope,
                sanitizing?.parts ?? 0,
            ],
            bytes,
        );
    };
    return {
        setNotes(notes) {
            const length = module.inputWords([], JSON.stringify(notes));
            return JSON.parse(module.decode(module.view(wasm.session_set_notes(session, length)))) as ProfileNote[];
        },
        exportFile(query, request) {
            inputExport(query, request);
            return module.view(wasm.session_export(session)).bytes(0);
        },
        exportPreview(query, request) {
            inputExport(query, request);
            return module.decode(module.view(wasm.session_export_preview(session)));
        },
        htmlPage({ template, gzip, view, hasSources }) {
            const head = encoder.encode(`${view.replace(/^\?/, '').replaceAll('\0', '')}\0`);
            const input = module.input(head.length + template.length + gzip.length);
            input.set(head);
            input.set(template, head.length);
            input.set(gzip, head.length + template.length);
            return module
                .view(wasm.session_html_page(session, head.length, template.length, gzip.length, Number(hasSources)))
                .bytes(0);
        },
    };
}
