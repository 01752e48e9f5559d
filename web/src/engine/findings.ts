/** The findings of a profile, which `prof report` also prints: lib/tree/findings.h. */
import type { EngineModule, Pointer } from './module';
import type { Answers } from './protocol';

/** A part of the time of the threads. */
export interface RunPart {
    kind: 'cpu' | 'wait' | 'runnable' | 'unseen';
    /** Name of the library or of the reason. */
    name: string;
    ms: number;
    /** Resource, or subcategory of "Idle". Undefined for CPU time outside of libraries. */
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
    /** The headline, or '' if the profile has no times. */
    headline: string;
    /** The time of the threads, ms. */
    whole_ms: number;
    /** The longest parts. Small parts may be missing. */
    parts: RunPart[];
    /** Findings, by the share of the run that they explain. */
    findings: Finding[];
}

export interface FindingCalls {
    /** Returns the findings for the threads and the range of a query, without its transforms and search. */
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
