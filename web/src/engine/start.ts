/**
 * Starts the engine of the page. A script of its own, which runs long before the rest of the page, so that the worker
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
