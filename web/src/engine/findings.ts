/** The first answers of a profile, which `prof report` prints, too: lib/tree/findings.h. */
import type { EngineModule, Pointer } from './module';
import type { Answers } from './protocol';

/** A part of the time of the threads. */
export interface RunPart {
    kind: 'cpu' | 'wait' | 'runnable' | 'unseen';
    /** Of the library or of the reason. */
    name: string;
    ms: number;
    /** Resource, or subcategory of "Idle"; undefined: CPU time in no library. */
    index?: number;
}

export interface Finding {
    kind: string;
    sentence: string;
    func?: number;
    line?: number;
    thread?: number;
}

export interface Findings {
    /** '': the profile has no times. */
    headline: string;
    /** The time of the threads, ms. */
    whole_ms: number;
    /** The longest, which may lack small ones. */
    parts: RunPart[];
    /** What explains most of the run first. */
    findings: Finding[];
}

export interface FindingCalls {
    /** About the threads and the range of a query, without its transforms and its search. */
    findings(query: number): Promise<Findings>;
}

interface Functions {
    session_findings(session: Pointer, query: number): Pointer;
}

export function findingAnswers(module: EngineModule): Answers<FindingCalls> {
    const wasm = module.functions<Functions>();
    return {
        findings(query) {
            return JSON.parse(module.decode(module.view(wasm.session_findings(module.session, query)))) as Findings;
        },
    };
}
