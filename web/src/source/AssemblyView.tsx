/**
 * The machine code in the source panel: one instruction per row with its cost and origin, and arrows for jumps. Only
 * visible rows are rendered.
 */
import type { JSX, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Session } from '../app/session';
import { partExpression } from '../base/highlight';
import { useSession } from '../session/context';
import { InfoIcon } from '../ui/icons';
import { rowOfKey, rowUnder, useRowWindow } from '../ui/row_window';
import { ProfileText } from '../ui/text';
import { useSize } from '../ui/use';
import { rowHeight } from '../window/settings';
import { AssemblyRow, INSTRUCTION_LIMIT, originOf } from './AssemblyRow';
import { FindBar } from './FindBar';
import { drawJumps, type Jump, LANE_WIDTH, layoutJumps, MOST_LANES } from './jumps';
import { CodeProblem, NoSymbol } from './SourceProblem';
import type { Code } from './source_texts';

const HEADER_HEIGHT = 24;
/** The width of a character of code, at most, px. */
const CHARACTER = 7.4;
/** The characters of the origin column: a line and a name, or a line and the start of a name. */
const ORIGIN_LIMIT = 18;
const NARROW_ORIGIN_LIMIT = 10;
/** The width in px below which the page hides columns for the instructions. */
const NARROW = 800;

/** The widths of the columns in px, as wide as their contents. */
interface Widths {
    address: number;
    origin: number;
    jumps: number;
    text: number;
}

function longest(texts: readonly string[]): number {
    return texts.reduce((most, text) => Math.max(most, text.length), 0);
}

interface Layout {
    syntax: number;
    lanes: number;
    /** The width of the pane, px. */
    room: number;
}

function widthsOf(session: Session, { instructions, places }: Code, { syntax, lanes, room }: Layout): Widths {
    const origins = longest(places.map((frames) => originOf(session, frames).text));
    const originLimit = room < NARROW ? NARROW_ORIGIN_LIMIT : ORIGIN_LIMIT;
    const texts = longest(instructions.map((instruction) => instruction.texts[syntax] ?? ''));
    return {
        address: Math.max(
            62,
            longest(instructions.map((instruction) => instruction.address.toString(16))) * CHARACTER + 16,
        ),
        origin: origins === 0 ? 0 : Math.max(44, Math.min(originLimit, origins) * CHARACTER + 16),
        jumps: lanes * LANE_WIDTH + 16,
        // The text after the mnemonic begins in a separate column.
        text: (Math.min(INSTRUCTION_LIMIT, texts) + 8) * CHARACTER + 16,
    };
}

interface JumpsProps {
    jumps: Jump[];
    /** The first visible row, and its position from the top of all rows, px. */
    top: number;
    place: number;
    height: number;
    lanes: number;
}

function Jumps({ jumps, top, place, height, lanes }: JumpsProps): JSX.Element {
    const { chosenInstruction } = useSession().sourcePanel;
    const canvas = useRef<HTMLCanvasElement>(null);
    const chosen = chosenInstruction.value;
    useLayoutEffect(() => {
        if (!canvas.current) return;
        const style = getComputedStyle(canvas.current);
        drawJumps(canvas.current, {
            jumps,
            rowHeight: rowHeight.value,
            top,
            width: lanes * LANE_WIDTH + 14,
            height,
            color: style.getPropertyValue('--line-jump'),
            chosen,
            chosenColor: style.getPropertyValue('--accent'),
        });
    });
    return (
        <div class="jumps" aria-hidden="true" style={{ top: `${place}px` }}>
            <canvas ref={canvas} />
        </div>
    );
}

function CodeHead(): JSX.Element {
    const { isChange } = useSession().tree;
    return (
        <div class="pane-header" role="row">
            <span role="columnheader" class="cost">
                {isChange.value ? 'Change' : 'Total'}
            </span>
            <span role="columnheader" class="cost">
                {isChange.value ? 'Of self' : 'Self'}
            </span>
            <span role="columnheader" class="address">
                Address
            </span>
            <span role="columnheader" class="origin">
                Line
            </span>
            <span role="columnheader" class="instruction">
                Instruction
            </span>
        </div>
    );
}

/** Focuses the code if the panel has no source, or if the user followed a jump to other code. */
function useKeyboard(scroller: RefObject<HTMLDivElement | null>, shown: Code): void {
    const { codeWantsFocus, openings, sourceText } = useSession().sourcePanel;
    const opened = openings.value;
    useEffect(() => {
        if (opened > 0 && !sourceText.value?.text) scroller.current?.focus({ preventScroll: true });
    }, [opened]);
    useEffect(() => {
        if (codeWantsFocus.value) scroller.current?.focus({ preventScroll: true });
        codeWantsFocus.value = false;
    }, [shown]);
}

function Listing({ shown }: { shown: Code }): JSX.Element {
    const session = useSession();
    const { markedIn } = session.sourceFind;
    const {
        chooseInstruction,
        chosenInstruction,
        followCall,
        instructionCosts,
        linkedInstructions,
        shownSyntax,
        sourceText,
        wantedInstruction,
    } = session.sourcePanel;
    const scroller = useRef<HTMLDivElement>(null);
    const size = useSize(scroller);
    const count = shown.instructions.length;
    const jumps = useMemo(() => layoutJumps(shown.instructions), [shown]);
    const lanes = Math.min(
        MOST_LANES,
        jumps.reduce((most, jump) => Math.max(most, jump.lane + 1), 0),
    );
    const file = sourceText.value?.file;
    const widths = useMemo(
        () => widthsOf(session, shown, { syntax: shownSyntax.value, lanes, room: size.width }),
        [shown, shownSyntax.value, lanes, file, size.width < NARROW],
    );
    const height = Math.max(size.height - HEADER_HEIGHT, 0);
    const rows = useRowWindow(scroller, { count, rowHeight: rowHeight.value, room: height, revealed: null });
    const most = [...instructionCosts.value.values()].reduce((max, cost) => Math.max(max, Math.abs(cost.self)), 0);
    const linked = linkedInstructions.value;
    const chosen = chosenInstruction.value;
    const found = partExpression(markedIn('code'));

    const wanted = wantedInstruction.value;
    useLayoutEffect(() => {
        if (wanted && wanted.index >= 0 && height > 0) rows.reveal(wanted.index, 'around');
    }, [wanted, shown, height > 0]);
    useKeyboard(scroller, shown);

    /** Goes to the target of a jump or call. Returns false for other instructions. */
    const follow = (from: number): boolean => {
        const jump = jumps.find((candidate) => candidate.from === from);
        if (!jump) return followCall(from);
        chooseInstruction(jump.to);
        rows.reveal(jump.to, 'around');
        return true;
    };
    const onKeyDown = (event: KeyboardEvent): void => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const page = Math.max(1, Math.floor(height / rowHeight.value) - 1);
        const index = rowOfKey(event, chosen, count, page);
        if (index !== undefined) {
            chooseInstruction(index);
            rows.reveal(index, 'nearest');
        } else if (event.key !== 'Enter' || !follow(chosen)) return;
        event.preventDefault();
    };
    return (
        <div
            ref={scroller}
            class="code"
            role="grid"
            aria-label="Machine code"
            aria-rowcount={count}
            tabIndex={0}
            {...(rows.has(chosen) ? { 'aria-activedescendant': `instruction-${chosen}` } : {})}
            onScroll={rows.onScroll}
            onKeyDown={onKeyDown}
            onClick={(event) => {
                const index = rowUnder(event);
                if (index >= 0 && (window.getSelection()?.isCollapsed ?? true)) chooseInstruction(index);
            }}
            onDblClick={(event) => {
                const index = rowUnder(event);
                if (index >= 0 && follow(index)) window.getSelection()?.removeAllRanges();
            }}
        >
            <div
                class="code-table"
                style={Object.fromEntries(Object.entries(widths).map(([name, width]) => [`--${name}`, `${width}px`]))}
            >
                <CodeHead />
                <div class="code-rows" role="rowgroup" style={{ height: `${rows.height}px` }}>
                    {shown.instructions.slice(rows.first, rows.last).map((instruction, i) => (
                        <AssemblyRow
                            key={instruction.address}
                            shown={shown}
                            index={rows.first + i}
                            top={rows.topOf(rows.first + i)}
                            most={most}
                            isLinked={linked.has(rows.first + i)}
                            isChosen={chosen === rows.first + i}
                            found={found}
                        />
                    ))}
                    <Jumps
                        jumps={jumps}
                        top={rows.top}
                        place={rows.topOf(0) + rows.top}
                        height={height}
                        lanes={lanes}
                    />
                </div>
            </div>
        </div>
    );
}

export function AssemblyView(): JSX.Element {
    const { code, codeProblem, shownSymbol, symbols } = useSession().sourcePanel;
    const shown = code.value;
    const problem = codeProblem.value;
    const isWithout = symbols.value !== null && shownSymbol.value === null;
    return (
        <section class="code-pane" aria-label="Assembly">
            {problem !== '' && <CodeProblem sentence={problem} />}
            {isWithout && <NoSymbol />}
            {shown && shown.note !== '' && (
                <p class="note" role="status">
                    <InfoIcon /> <ProfileText text={shown.note} limit={200} />
                </p>
            )}
            {shown && <Listing shown={shown} />}
            <FindBar pane="code" />
        </section>
    );
}
