/** The entry point of the page. */
import { startPage } from './app/page';

// Imports state before views, because gzip compresses similar modules better side by side, which saves 700 bytes.

import { render } from 'preact';
import { App } from './app/App';
import { engine, firstProfile, followFirstProfile } from './engine/start';
import { followServer } from './window/server';
import { followRowHeight } from './window/settings';
import { followTheme } from './window/theme';

followTheme();
followRowHeight();
followServer();
const root = document.querySelector('#app');
if (root) render(<App />, root);
void startPage(engine, firstProfile, followFirstProfile);
