/** The messages between the page (client.ts) and the worker (worker.ts). */
import type { Engine, LoadCalls, Progress } from './api';
import type { AnySource } from './download';

/** What was asked about a query, or a butterfly, that is no longer open: something newer has taken its place. */
export class ClosedError extends Error {}

export type Method = keyof Engine;

/** What the worker does for calls that the page makes: the same, at once. */
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
