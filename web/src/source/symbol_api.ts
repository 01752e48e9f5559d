/** The client of the server's symbol API for source files and machine code, which is the API of samply's tools. */
import { formatCount } from '../base/format';
import type { Progress } from '../engine/api';
import type { CodePlace, LibraryId, NativeSymbol } from '../engine/source';
import { askServer } from '../window/server';

/** The limit of addresses in the server's answers, and of code that the page can show. */
const MOST_ADDRESSES = 10_000;
const MOST_INSTRUCTIONS = 100_000;

function hex(value: number): string {
    return `0x${value.toString(16)}`;
}

/** Throws the server's message if the request fails. */
async function post(path: string, request: unknown): Promise<unknown> {
    return readAnswer(await askServer(path, { method: 'POST', body: JSON.stringify(request) }));
}

/** Returns the same profile with the names that this machine knows. */
export async function fetchNamed(profile: Blob): Promise<File> {
    const response = await askServer('names', { method: 'POST', body: profile });
    if (!response.headers.has('X-Uncompressed-Length')) await readAnswer(response); // the answer has the reason
    return new File([await response.blob()], 'profile.json');
}

/**
 * Gives the served profile the names that this machine and its debuginfod servers know. Returns a sentence about the
 * result.
 */
export async function nameServed(): Promise<string> {
    const { addresses, unnamed, problems } = (await readAnswer(await askServer('names', { method: 'POST' }))) as {
        addresses: number;
        unnamed: number;
        problems: string[];
    };
    const [problem] = problems;
    const named = `${formatCount(addresses - unnamed)} of ${formatCount(addresses)} addresses have a symbol`;
    return unnamed > 0 && problem ? `${named}. ${problem}` : named;
}

/** Returns the server's downloads so far. */
export async function fetchNamesProgress(): Promise<Progress> {
    const answer = (await readAnswer(await askServer('names', { cache: 'no-store' }))) as Omit<Progress, 'phase'>;
    return { phase: 'names', done: answer.done, total: answer.total, file: answer.file ?? '' };
}

async function readAnswer(response: Response): Promise<unknown> {
    const answer: unknown = await response.json().catch(() => {
        throw new Error(`the server answered ${response.status} ${response.statusText}`);
    });
    if (typeof answer !== 'object' || answer === null) throw new Error('the server sent an empty answer');
    if ('error' in answer) throw new Error(String(answer.error));
    return answer;
}

/** Returns the source file of the code at this place. */
export async function fetchSource({ lib, address }: CodePlace, file: string): Promise<string> {
    const { debugName, debugId } = lib;
    const answer = (await post('source/v1', { debugName, debugId, moduleOffset: hex(address), file })) as {
        source: string;
    };
    return answer.source;
}

/** Returns the source file of code that a JIT compiler generated. */
export async function fetchScript(file: string): Promise<string> {
    return ((await post('source/v1', { file })) as { source: string }).source;
}

export interface Instruction {
    address: number;
    /** One text for each syntax. */
    texts: string[];
}

export interface Disassembly {
    arch: string;
    syntaxes: string[];
    instructions: Instruction[];
    /** One past the last byte. */
    end: number;
    /** The missing data and a solution, or ''. */
    note: string;
}

export async function fetchAssembly(symbol: NativeSymbol): Promise<Disassembly> {
    const { lib, name, address, size } = symbol;
    const answer = (await post('asm/v1', {
        name,
        debugName: lib.debugName,
        debugId: lib.debugId,
        ...(lib.codeId === '' ? {} : { codeId: lib.codeId }),
        startAddress: hex(address),
        size: hex(Math.max(size, 1)),
        continueUntilFunctionEnd: size === 0,
    })) as {
        startAddress: string;
        size: string;
        arch: string;
        syntax: string[];
        instructions: [number, ...string[]][];
        note?: string;
    };
    const start = Number(answer.startAddress);
    return {
        arch: answer.arch,
        syntaxes: answer.syntax,
        end: start + Number(answer.size),
        note: answer.note ?? '',
        instructions: answer.instructions
            .slice(0, MOST_INSTRUCTIONS)
            .map(([offset, ...texts]) => ({ address: start + offset, texts })),
    };
}

/** A frame of an address: its function and line. */
export interface Place {
    func: string;
    file: string;
    /** The line, or 0 if unknown. */
    line: number;
}

interface ApiFrame {
    function?: string;
    file?: string;
    line?: number;
    inlines?: ApiFrame[];
}

function placeOf(frame: ApiFrame): Place {
    return { func: frame.function ?? '', file: frame.file ?? '', line: frame.line ?? 0 };
}

/** Returns the frames of each address from the debug info, outermost first. */
export async function fetchPlaces(lib: LibraryId, addresses: readonly number[]): Promise<Place[][]> {
    const places: Place[][] = [];
    for (let at = 0; at < addresses.length; at += MOST_ADDRESSES) {
        const part = addresses.slice(at, at + MOST_ADDRESSES);
        const answer = (await post('symbolicate/v5', {
            memoryMap: [[lib.debugName, lib.debugId]],
            stacks: [part.map((address) => [0, address])],
        })) as { results: [{ stacks: [ApiFrame[]] }] };
        for (const frame of answer.results[0].stacks[0])
            places.push([placeOf(frame), ...(frame.inlines ?? []).map(placeOf).reverse()]);
    }
    return places;
}
