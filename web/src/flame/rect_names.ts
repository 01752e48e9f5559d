/** Names on the rects of a chart. */
import type { Session } from '../app/session';
import { plainText } from '../base/plain';
import { shortName } from '../table/weight_columns';
import { foldsTemplates } from '../window/settings';
import { act } from '../window/windows';
import type { Frame } from './draw_rects';

const LABEL_LIMIT = 400;
/** The minimum width of a rect for which the page fetches the name, px. */
const NAME_WIDTH = 24;
const MOST_NAMES = 5000;

export function rectLabel(session: Session, func: number): string {
    const { foldedLabels, fullLabels, funcName } = session.names;
    const known = foldsTemplates.value ? foldedLabels : fullLabels;
    const text = known.get(func);
    if (text !== undefined) return text;
    const name = funcName(func);
    if (!name) return '';
    const made = plainText(shortName(name.name), LABEL_LIMIT);
    known.set(func, made);
    return made;
}

/** Fetches the names that fit on their rects. */
export function fetchShownNames(session: Session, frame: Frame): void {
    const { fetchNames, funcName } = session.names;
    const funcs = new Set<number>();
    for (const band of frame.bands) {
        const scale = (frame.width * (band.span[1] - band.span[0])) / (frame.shown[1] - frame.shown[0]);
        const { start, end, func, library } = band.rects;
        for (let i = 0; i < func.length && funcs.size < MOST_NAMES; i++) {
            const named = func[i] === -1 ? (library?.[i] ?? -1) : (func[i] ?? -1);
            if (((end[i] ?? 0) - (start[i] ?? 0)) * scale >= NAME_WIDTH && named !== -1) funcs.add(named);
        }
    }
    const missing = [...funcs].filter((func) => funcName(func) === undefined);
    if (missing.length > 0) act(fetchNames(missing));
}
