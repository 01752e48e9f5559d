/** The messages between the page (client.ts) and the worker (worker.ts). */
import type { Engine, LoadCalls, Progress } from './api';
import type { AnySource } from './download';

/** The error of a call about a query or butterfly that the worker has closed for a newer query. */
export class ClosedError extends Error {}

export type Method = keyof Engine;

/** The types of the worker's functions, which answer without promises. */
export type Answers<Calls> = {
    [M in keyof Calls]: Calls[M] extends (...args: infer Args) => Promise<infer Value>
        ? (...args: Args) => Value
        : never;
};

/** All calls except for loading, which the worker implements without the engine's themes. */
export type EngineAnswers = Answers<Omit<Engine, keyof LoadCalls>>;

/** The arguments of a call, without functions, which messages cannot contain. */
export type Arguments<M extends Method> = M extends 'load' ? [source: AnySource] : Parameters<Engine[M]>;

export type Request = { [M in Method]: { id: number; method: M; args: Arguments<M> } }[Method];

export type Reply =
    | { id: number; kind: 'result'; value: unknown }
    | { id: number; kind: 'error'; message: string; isClosed: boolean }
    /** The engine cannot answer further calls. */
    | { id: number; kind: 'died'; message: string }
    | { id: number; kind: 'progress'; progress: Progress };
