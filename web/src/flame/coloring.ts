/**
 * The colors of rects: by category, or by library, name or module of their functions. The hash of a name chooses its
 * color. If another name has this color already, the name gets the next free color. In a comparison, rects have the
 * colors of changes.
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

/** The choices of a chart's colors. */
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

/** Returns the slot that the hash chooses, or the next free slot. Pale colors come last. */
function freeSlot(hash: number, taken: ReadonlySet<number>): number {
    const count = NAME_COLORS.length;
    for (let step = 0; step < NAME_SLOTS && taken.size < NAME_SLOTS; step++) {
        const slot = ((hash + step) % count) + (step < count ? 0 : count);
        if (!taken.has(slot)) return slot;
    }
    return hash % NAME_SLOTS;
}

/** If one category has this share or more, colors of categories show too little. */
const NEARLY_ALL = 0.8;

/** The limit of rects for whose colors the page fetches names. */
const MOST_NAMES = 20_000;

export interface LegendEntry {
    key: string;
    /** The color's slot, -1 for functions without the value. */
    slot: number;
    /** The share of this color in the area of all rects. */
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

    /**
     * Whether the colors of categories show nothing, because one category has nearly all of the first rects; null
     * before the first rects.
     */
    const isOneCategory = signal<boolean | null>(null);
    /** The colors if the user has chosen none. */
    const usual = computed<ChartColoring>(() => {
        // In a stack chart, many rects are narrow and stand for several functions of a category.
        if (view.value.tab === 'stack-chart') return 'category';
        return isChange.value ? 'change' : isOneCategory.value ? 'module' : 'category';
    });
    const colorBy = computed<ChartColoring>(() => view.value.colorBy ?? usual.value);
    const colorChoices = computed(() => (usual.value === 'change' ? [CHANGE, ...CHOICES] : CHOICES));
    /** The rects that the page shows. */
    const coloredRects = signal<readonly Rects[]>([]);

    const slots = new Map(COLOR_KEYS.map((by) => [by, new Map<string, number>()]));
    const keys = new Map(COLOR_KEYS.map((by) => [by, new Map<number, string>()]));

    /** The address omits the default colors. */
    function setColorBy(by: ChartColoring): void {
        const wanted = by === usual.value || by === 'change' ? null : by;
        if (wanted !== view.value.colorBy) changeView({ colorBy: wanted }, 'push');
    }

    /** Returns the name by which a function gets its color, or '' before the page has the name. */
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

    /** Chooses the default colors, before the page draws the first flame graph of the session. */
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

    /** Returns the largest change of a rect that is not noise. */
    function largestChange({ baseTotal, newTotal, func }: FlameRects): number {
        let largest = 0;
        for (let rect = 0; rect < func.length; rect++)
            if (!isNoise(func[rect] ?? -1))
                largest = Math.max(largest, Math.abs((newTotal[rect] ?? 0) - (baseTotal[rect] ?? 0)));
        return largest;
    }

    /** Returns whether the change of a function may be noise. Without the times of runs, noise is unknown. */
    function isNoise(func: number): boolean {
        return !info.value.timesAreOrder && (certainty.ofFunc(func, 'total')?.isNoise ?? false);
    }

    function changesAt(colors: ChartColors): (rects: Rects, rect: number) => RectColors {
        certainty.judged('total'); // the page draws the chart again when the engine has answered
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

    /** Returns the colors of a chart's rects, or null for the colors of categories. */
    function colorsAt(colors: ChartColors, by = colorBy.value): ((rects: Rects, rect: number) => RectColors) | null {
        if (by === 'category') return null;
        if (by === 'change') return changesAt(colors);
        return ({ func, library }, rect) => {
            const [at = -1, many = -1] = [func[rect], library?.[rect]];
            return colorsOfName(colors, slotOf(at < 0 ? (funcName(many)?.name ?? '') : keyOf(at, by), by));
        };
    }

    /** Fetches the names that decide on colors, of narrow rects, too. */
    function fetchColorNames(all: readonly Rects[]): void {
        if (colorBy.value === 'category' || colorBy.value === 'change') return;
        const funcs = new Set<number>();
        for (const { func } of all)
            for (const index of func) if (index >= 0 && funcs.size < MOST_NAMES) funcs.add(index);
        fetchMissingNames([...funcs]);
    }

    /** The meanings of the colors on the page, largest area first. */
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
