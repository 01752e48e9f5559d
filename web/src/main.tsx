/** Where the page begins. */
import { render } from 'preact';
import { App } from './components/App';
import { engine, firstProfile, followFirstProfile } from './engine/start';
import { startPage } from './state/page';
import { followServer } from './state/server';
import { followRowHeight } from './state/settings';
import { followTheme } from './state/theme';

followTheme();
followRowHeight();
followServer();
const root = document.querySelector('#app');
if (root) render(<App />, root);
void startPage(engine, firstProfile, followFirstProfile);
