/** The messages between the page (client.ts) and the worker (worker.ts). */
import type { Engine, Progress } from './api';

export type Method = keyof Engine;

/** The arguments of a call, without those that cannot be posted. */
export type Arguments<M extends Method> = M extends 'load' ? [url: string] : Parameters<Engine[M]>;

export type Request = { [M in Method]: { id: number; method: M; args: Arguments<M> } }[Method];

export type Reply =
    | { id: number; kind: 'result'; value: unknown }
    | { id: number; kind: 'error'; message: string }
    | { id: number; kind: 'progress'; progress: Progress };
