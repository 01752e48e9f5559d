/** Where the page begins. */
import { render } from 'preact';
import { App } from './components/App';
import { followButterfly } from './state/butterfly';
import { followFlame } from './state/flame';
import { followQuery } from './state/functions';
import { followPalette } from './state/palette';
import { followMarkerChart } from './state/marker_chart';
import { followMarkers } from './state/markers';
import { followStackChart } from './state/stack_chart';
import { followBox } from './state/source_box';
import { start } from './state/store';
import { followTheme } from './state/theme';
import { followView } from './state/tree';

followTheme();
followView();
followQuery();
followButterfly();
followPalette();
followFlame();
followMarkers();
followStackChart();
followMarkerChart();
followBox();
const root = document.querySelector('#app');
if (root) render(<App />, root);
void start();
