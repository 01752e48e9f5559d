/** The text of source files and the code of native symbols with its origin, which the page fetches once and caches. */

import { messageOf } from '../base/message';
import { NewestMap } from '../base/newest_map';
import type { NativeSymbol } from '../engine/source';
import type { NamesPart } from '../session/names';
import type { SessionBase } from '../session/session_base';
import { type Disassembly, fetchAssembly, fetchPlaces, fetchScript, fetchSource, type Place } from './symbol_api';

/** The limit of cached files, and of cached symbols. */
const MOST_CACHED = 100;

/**
 * Matches prof's name for the library with the code of a jitdump file. The server cannot confirm that scripts belong to
 * such a library.
 */
const JITDUMP = /^jit-\d+\.dump$/;

export interface SourceText {
    source: number;
    file: string;
    /** The text, or null with a `problem`. */
    text: string | null;
    problem: string;
}

/** Code with the origin of its instructions. */
export interface Code extends Disassembly {
    symbol: number;
    /** The frames of each instruction, outermost first; empty if unknown. */
    places: Place[][];
}

export function createSourceTexts(session: SessionBase & { names: NamesPart }) {
    const { engine } = session;
    const { fetchNames, nameOf } = session.names;

    /** The texts by source, and the code by symbol. */
    const texts = new NewestMap<number, SourceText>(MOST_CACHED);
    const codes = new NewestMap<number, Code>(MOST_CACHED);

    async function loadText(source: number): Promise<SourceText> {
        const { file, content, places } = await engine.sourceFile(source);
        if (content !== null) return { source, file, text: content, problem: '' };
        const inLibraries = places.filter((place) => !JITDUMP.test(place.lib.debugName));
        const ways =
            inLibraries.length > 0
                ? inLibraries.map((place) => () => fetchSource(place, file))
                : [() => fetchScript(file)];
        let problem = '';
        for (const fetchText of ways) {
            try {
                return { source, file, text: await fetchText(), problem: '' };
            } catch (error) {
                problem = messageOf(error);
            }
        }
        return { source, file, text: null, problem };
    }

    /** A later call requests a missing text again. */
    async function fetchText(source: number): Promise<SourceText> {
        const text = await loadText(source).catch((error: unknown): SourceText => {
            return { source, file: '', text: null, problem: messageOf(error) };
        });
        if (text.text !== null) texts.set(source, text);
        return text;
    }

    /** Returns the frames of each instruction from the debug info, else from the profile's frames. */
    async function placesOf(symbol: NativeSymbol, disassembly: Disassembly): Promise<Place[][]> {
        const { instructions } = disassembly;
        const places = await fetchPlaces(
            symbol.lib,
            instructions.map((instruction) => instruction.address),
        ).catch(() => instructions.map((): Place[] => []));
        const lines = await engine.addressLines(symbol.symbol);
        await fetchNames(lines.map((line) => line.func));
        const isNamed = places.map((frames) => frames.some((place) => place.line > 0));
        isNamed.forEach((isKnown, index) => {
            if (!isKnown) places[index] = [];
        });
        let at = 0;
        for (const line of lines) {
            while (at + 1 < instructions.length && (instructions[at + 1]?.address ?? 0) <= line.address) at++;
            if (isNamed[at] || line.line === 0) continue;
            places[at] = [...(places[at] ?? []), { func: nameOf(line.func), file: line.file, line: line.line }];
        }
        return places;
    }

    async function fetchCode(symbol: NativeSymbol): Promise<Code> {
        const disassembly = await fetchAssembly(symbol);
        const code = { ...disassembly, symbol: symbol.symbol, places: await placesOf(symbol, disassembly) };
        codes.set(symbol.symbol, code);
        return code;
    }

    return { texts, codes, fetchText, fetchCode };
}

export type SourceTextsPart = ReturnType<typeof createSourceTexts>;
