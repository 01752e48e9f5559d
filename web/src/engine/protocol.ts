/** The messages between the page (client.ts) and the worker (worker.ts). */
import type { Engine, LoadCalls, Progress } from './api';
import type { AnySource } from './download';

/** The error of a call for a query or a butterfly that is closed, because a newer one has replaced it. */
export class ClosedError extends Error {}

export type Method = keyof Engine;

/** The functions of the worker behind the calls of the page, without promises. */
export type Answers<Calls> = {
    [M in keyof Calls]: Calls[M] extends (...args: infer Args) => Promise<infer Value>
        ? (...args: Args) => Value
        : never;
};

/** All but loading, which the worker does itself. */
export type EngineAnswers = Answers<Omit<Engine, keyof LoadCalls>>;

/** The arguments of a call, without those that cannot be posted. */
export type Arguments<M extends Method> = M extends 'load' ? [source: AnySource] : Parameters<Engine[M]>;

export type Request = { [M in Method]: { id: number; method: M; args: Arguments<M> } }[Method];

export type Reply =
    | { id: number; kind: 'result'; value: unknown }
    | { id: number; kind: 'error'; message: string; isClosed: boolean }
    /** The engine is in no state to answer anything more. */
    | { id: number; kind: 'died'; message: string }
    | { id: number; kind: 'progress'; progress: Progress };
