/** Where the page begins. */
import { render } from 'preact';
import { App } from './components/App';
import { start } from './state/store';
import { followTheme } from './state/theme';
import { followView } from './state/tree';

followTheme();
followView();
const root = document.querySelector('#app');
if (root) render(<App />, root);
void start();
