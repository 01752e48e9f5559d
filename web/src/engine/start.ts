/**
 * Starts the engine of the page. The browser runs this script long before the rest of the page, so that the worker
 * fetches the profile meanwhile.
 */
import type { ProfileInfo, Progress } from './api';
import { createEngine, type EngineWorker } from './client';

export const engine: EngineWorker = createEngine();

let follow = (_progress: Progress): void => undefined;

/** The profile that the server serves with the page. */
export const firstProfile: Promise<ProfileInfo> = engine.load('profile.json', (progress) => follow(progress));
firstProfile.catch(() => undefined); // the code that awaits firstProfile reports the error

export function followFirstProfile(onProgress: (progress: Progress) => void): void {
    follow = onProgress;
}
