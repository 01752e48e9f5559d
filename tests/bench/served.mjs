// What the measurements of the page share: a server, and the middle of several times.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { build } from '../engine_loader.mjs';

/** Starts `prof load` of one profile, or of two to compare; resolves with the address that it prints. */
export async function serve(...files) {
    const server = spawn(join(build, 'prof'), ['load', '--no-open', '--port', '0', ...files]);
    const url = await new Promise((resolve, reject) => {
        let text = '';
        const read = (piece) => {
            text += piece;
            const match = /http:\S+/.exec(text);
            if (match) resolve(match[0]);
        };
        server.stdout.on('data', read);
        server.stderr.on('data', read);
        server.on('exit', () => reject(new Error(`prof load ended: ${text}`)));
    });
    return { server, url };
}

export function median(times) {
    return times.sort((a, b) => a - b)[times.length >> 1];
}
