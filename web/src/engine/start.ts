/**
 * The page's engine. This is a script of its own, which is there and run long before the rest of the page: the worker
 * starts and fetches the profile meanwhile.
 */
import type { ProfileInfo, Progress } from './api';
import { createEngine, type EngineWorker } from './client';

export const engine: EngineWorker = createEngine();

let follow = (_progress: Progress): void => undefined;

/** The profile that the server has next to the page. */
export const firstProfile: Promise<ProfileInfo> = engine.load('profile.json', (progress) => follow(progress));
firstProfile.catch(() => undefined); // its users report the error

export function followFirstProfile(onProgress: (progress: Progress) => void): void {
    follow = onProgress;
}
