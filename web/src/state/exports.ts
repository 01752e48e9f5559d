/** Saving what is seen as a file: a view or the timeline as an image, the flame graph as SVG. */
import { chartColors } from '../draw/rect_colors';
import { pixelRatio, styleColor } from '../draw/canvas';
import { elementImage } from '../draw/element_image';
import { flameSvg } from '../draw/flame_svg';
import { describeNarrow, describeWeight, formatDuration, formatShare } from '../text/format';
import { messageOf } from '../text/message';
import { plainText } from '../text/plain';
import { rowCount } from './rect_paths';
import { theme } from './theme';
import { act, type MenuItem, menuItem, saveBlob, showNotice } from './windows';
import type { AxisPart } from './axis';
import type { ColoringPart } from './coloring';
import type { FiltersPart } from './filters';
import type { FlamePart } from './flame';
import type { NamesPart } from './names';
import type { StorePart } from './store';
import type { TreePart } from './tree';
import type { Given } from './given';

/** px */
const SVG_WIDTH = 1600;
const NAME_LIMIT = 1000;
const FILE_NAME_LIMIT = 60;

function saveFile(blob: Blob, name: string): void {
    saveBlob(blob, name);
    showNotice(`${name} saved`);
}

export function createExports(
    session: Given & {
        axis: AxisPart;
        coloring: ColoringPart;
        filters: FiltersPart;
        flame: FlamePart;
        names: NamesPart;
        store: StorePart;
        tree: TreePart;
    },
) {
    const { info } = session;
    const { shownRange } = session.axis;
    const { colorsAt } = session.coloring;
    const { weightUnit } = session.filters;
    const { askFlame } = session.flame;
    const { fetchNames, funcName } = session.names;
    const { inverted, search, selectedThreads, threadInfo, view } = session.store;
    const { summary } = session.tree;

    /** What the recorded program is called, as part of a file name. */
    function fileName(what: string, ending: string): string {
        const product = info.value.product.replace(/[^\w.+-]+/g, '-').replace(/^[-.]+|-+$/g, '');
        return `${product.slice(0, FILE_NAME_LIMIT) || 'profile'}-${what}.${ending}`;
    }

    async function saveImage(selector: string, what: string): Promise<void> {
        const element = document.querySelector(selector);
        if (!element) return;
        try {
            saveFile(await elementImage(element, pixelRatio(), styleColor('surface')), fileName(what, 'png'));
        } catch (error) {
            showNotice(messageOf(error));
        }
    }

    function saveView(): void {
        act(saveImage('#view', view.value.tab));
    }

    function saveTimeline(): void {
        act(saveImage('.timeline', 'timeline'));
    }

    /** What is shown, in words. */
    function heading(): string[] {
        const { product, interval } = info.value;
        const names = selectedThreads.value.map((index) => threadInfo(index)?.name ?? '');
        const [from, to] = shownRange();
        const total = describeWeight(summary.value?.rootTotal ?? 0, weightUnit.value, interval);
        const terms = search.value.trim();
        const parts = [
            names.length > 3 ? `${names.length} threads` : names.join(', '),
            `${formatDuration(to - from)} at ${formatDuration(from - info.value.rangeStart)}`,
            total,
            ...(terms === '' ? [] : [`filter: ${terms}`]),
        ];
        return [plainText(product, 200), plainText(parts.join(' · '), 400)];
    }

    async function saveFlameSvg(): Promise<void> {
        const whole = summary.value?.rootTotal ?? 0;
        const { rects } = await askFlame(SVG_WIDTH);
        await fetchNames(new Set(rects.func.filter((func) => func !== -1)));
        const context = document.createElement('canvas').getContext('2d');
        if (!context) return;
        const { categories, interval } = info.value;
        const title = (rect: number): string => {
            const name = funcName(rects.func[rect] ?? -1);
            const who = name
                ? plainText(name.name, NAME_LIMIT) + (name.lib === '' ? '' : ` [${plainText(name.lib, NAME_LIMIT)}]`)
                : describeNarrow(rects.count[rect] ?? 0);
            const total = rects.total[rect] ?? 0;
            const amount = describeWeight(total, weightUnit.value, interval);
            return `${who}\n${formatShare(total, whole)} (${amount}), self ${formatShare(rects.self[rect] ?? 0, whole)}`;
        };
        const colors = chartColors(categories, theme.value);
        const text = flameSvg(
            {
                rects,
                rows: rowCount(rects),
                width: SVG_WIDTH,
                fromBottom: !inverted.value,
                heading: heading(),
                colors,
                colorsAt: colorsAt(colors),
                label: (func) => plainText(funcName(func)?.name ?? '', NAME_LIMIT),
                title,
            },
            context,
        );
        saveFile(new Blob([text], { type: 'image/svg+xml' }), fileName('flame-graph', 'svg'));
    }

    /** For the end of the menu of a chart. */
    function saveItems(): MenuItem[] {
        const image = menuItem('Save as image', saveView, {
            title: 'The visible part of this view as a PNG file',
            startsGroup: true,
        });
        if (view.value.tab !== 'flame-graph') return [image];
        const svg = menuItem('Save as SVG', () => act(saveFlameSvg()), {
            title: 'The whole flame graph, with the numbers of each node',
        });
        return [image, svg];
    }

    return {
        saveView,
        saveTimeline,
        saveFlameSvg,
        saveItems,
    };
}

export type ExportsPart = ReturnType<typeof createExports>;
