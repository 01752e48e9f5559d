/**
 * The colors of rects: by category, or by library, name or module of their functions. The hash of a name chooses its
 * color; if another name has this color, it gets the next free color. The flame graph of a comparison has the colors of
 * the changes.
 */
import { computed, signal } from '@preact/signals';
import { COLOR_KEYS, type ColorKey, colorKeyOf, hashOf } from '../base/color_key';
import { NAME_COLORS, NAME_SLOTS } from '../base/colors';
import { type ChartColors, changeLevel, colorsOfChange, colorsOfName, type RectColors } from '../base/rect_colors';
import type { TreePart } from '../calltree/tree';
import type { CertaintyPart } from '../compare/certainty';
import type { FlameRects, Rects } from '../engine/charts';
import type { Choice } from '../session/filters';
import type { NamesPart } from '../session/names';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';

/** What charts can be colored by. */
export type ChartColoring = ColorKey | 'change';

const CHANGE: Choice<ChartColoring> = {
    value: 'change',
    label: 'Color by change',
    hint: 'Blue: the new side has less; orange: it has more; gray: noise',
};

const CHOICES: readonly Choice<ChartColoring>[] = [
    { value: 'category', label: 'Color by category', hint: 'The category of each frame' },
    { value: 'library', label: 'Color by library', hint: 'The library or script of each function' },
    {
        value: 'function',
        label: 'Color by function',
        hint: 'The name of each function, ignoring template arguments',
    },
    {
        value: 'module',
        label: 'Color by module',
        hint: 'Namespace, crate or package of each function, else its source file',
    },
];

/** The one that the hash says; else the next free one, and all others before the pale ones. */
function freeSlot(hash: number, taken: ReadonlySet<number>): number {
    const count = NAME_COLORS.length;
    for (let step = 0; step < NAME_SLOTS && taken.size < NAME_SLOTS; step++) {
        const slot = ((hash + step) % count) + (step < count ? 0 : count);
        if (!taken.has(slot)) return slot;
    }
    return hash % NAME_SLOTS;
}

/** From this share of one category on, colors of categories say too little. */
const NEARLY_ALL = 0.8;

/** The most rects whose names are fetched for colors. */
const MOST_NAMES = 20_000;

export interface LegendEntry {
    key: string;
    /** -1: of functions of which nothing is known. */
    slot: number;
    /** What it has of the area of all rects. */
    share: number;
}

function hasSides(rects: Rects): rects is FlameRects {
    return 'baseTotal' in rects;
}

type Parts = { certainty: CertaintyPart; names: NamesPart; store: StorePart; tree: TreePart };

export function createColoring(session: SessionBase & Parts) {
    const { fetchMissingNames, funcName, namesVersion } = session.names;
    const { changeView, view } = session.store;

    const { certainty, info } = session;
    const { isChange } = session.tree;

    /** Whether categories say nothing, because nearly all of the first rects are of one; null: there were none yet. */
    const isOneCategory = signal<boolean | null>(null);
    /** What it is without a choice. */
    const usual = computed<ChartColoring>(() => {
        // In a stack chart, much is narrow, and stands for several functions of a category.
        if (view.value.tab === 'stack-chart') return 'category';
        return isChange.value ? 'change' : isOneCategory.value ? 'module' : 'category';
    });
    const colorBy = computed<ChartColoring>(() => view.value.colorBy ?? usual.value);
    const colorChoices = computed(() => (usual.value === 'change' ? [CHANGE, ...CHOICES] : CHOICES));
    /** The rects that are on the page now. */
    const coloredRects = signal<readonly Rects[]>([]);

    const slots = new Map(COLOR_KEYS.map((by) => [by, new Map<string, number>()]));
    const keys = new Map(COLOR_KEYS.map((by) => [by, new Map<number, string>()]));

    /** The usual one needs no word in the address. */
    function setColorBy(by: ChartColoring): void {
        const wanted = by === usual.value || by === 'change' ? null : by;
        if (wanted !== view.value.colorBy) changeView({ colorBy: wanted }, 'push');
    }

    /** '' while its name is not known. */
    function keyOf(func: number, by: ColorKey): string {
        const known = keys.get(by);
        const key = known?.get(func);
        if (key !== undefined) return key;
        const info = func < 0 ? undefined : funcName(func);
        if (!info) return '';
        const made = colorKeyOf(info, by);
        known?.set(func, made);
        return made;
    }

    function slotOf(key: string, by: ColorKey): number {
        const taken = slots.get(by);
        if (!taken || key === '') return -1;
        let slot = taken.get(key);
        if (slot === undefined) {
            slot = freeSlot(hashOf(key), new Set(taken.values()));
            taken.set(key, slot);
        }
        return slot;
    }

    /** Decides on the usual colors, before the first flame graph of the session is drawn. */
    function noteFirst({ category, func, start, end }: Rects): void {
        if (isOneCategory.peek() !== null) return;
        const areas = new Map<number, number>();
        for (let rect = 0; rect < func.length; rect++) {
            const of = category[rect] ?? 0;
            if ((func[rect] ?? -1) < 0 || info.peek().categories[of]?.color === 'transparent') continue;
            areas.set(of, (areas.get(of) ?? 0) + (end[rect] ?? 0) - (start[rect] ?? 0));
        }
        const whole = [...areas.values()].reduce((sum, area) => sum + area, 0);
        if (whole > 0) isOneCategory.value = Math.max(...areas.values()) > NEARLY_ALL * whole;
    }

    /** The largest change of the rects that is not noise. */
    function largestChange({ baseTotal, newTotal, func }: FlameRects): number {
        let largest = 0;
        for (let rect = 0; rect < func.length; rect++)
            if (!isNoise(func[rect] ?? -1))
                largest = Math.max(largest, Math.abs((newTotal[rect] ?? 0) - (baseTotal[rect] ?? 0)));
        return largest;
    }

    /** Whether the change of a function may be noise. Without times, nobody knows how much samples vary. */
    function isNoise(func: number): boolean {
        return !info.value.timesAreOrder && (certainty.ofFunc(func, 'total')?.isNoise ?? false);
    }

    function changesAt(colors: ChartColors): (rects: Rects, rect: number) => RectColors {
        certainty.judged('total'); // the chart is drawn again when that is known
        const largest = new Map<FlameRects, number>();
        return (rects, rect) => {
            if (!hasSides(rects) || isNoise(rects.func[rect] ?? -1)) return colorsOfChange(colors, 0);
            const most = largest.get(rects) ?? largestChange(rects);
            largest.set(rects, most);
            return colorsOfChange(
                colors,
                changeLevel((rects.newTotal[rect] ?? 0) - (rects.baseTotal[rect] ?? 0), most),
            );
        };
    }

    /** Of a chart with these colors; null: its rects have those of their categories. */
    function colorsAt(colors: ChartColors, by = colorBy.value): ((rects: Rects, rect: number) => RectColors) | null {
        if (by === 'category') return null;
        if (by === 'change') return changesAt(colors);
        return ({ func, library }, rect) => {
            const [at = -1, many = -1] = [func[rect], library?.[rect]];
            return colorsOfName(colors, slotOf(at < 0 ? (funcName(many)?.name ?? '') : keyOf(at, by), by));
        };
    }

    /** The names that colors depend on, of rects however narrow. */
    function fetchColorNames(all: readonly Rects[]): void {
        if (colorBy.value === 'category' || colorBy.value === 'change') return;
        const funcs = new Set<number>();
        for (const { func } of all)
            for (const index of func) if (index >= 0 && funcs.size < MOST_NAMES) funcs.add(index);
        fetchMissingNames([...funcs]);
    }

    /** What the colors of the rects on the page stand for, the largest first. */
    const legend = computed<LegendEntry[]>(() => {
        namesVersion.value;
        const by = colorBy.value;
        const areas = new Map<string, number>();
        let whole = 0;
        if (by === 'category' || by === 'change') return [];
        for (const { func, start, end } of coloredRects.value)
            for (let rect = 0; rect < func.length; rect++) {
                if ((func[rect] ?? -1) < 0) continue;
                const key = keyOf(func[rect] ?? -1, by);
                const area = (end[rect] ?? 0) - (start[rect] ?? 0);
                areas.set(key, (areas.get(key) ?? 0) + area);
                whole += area;
            }
        return [...areas]
            .sort((a, b) => b[1] - a[1])
            .map(([key, area]) => ({ key, slot: slotOf(key, by), share: area / whole }));
    });

    return { noteFirst, colorBy, colorChoices, setColorBy, coloredRects, colorsAt, fetchColorNames, legend };
}

export type ColoringPart = ReturnType<typeof createColoring>;
