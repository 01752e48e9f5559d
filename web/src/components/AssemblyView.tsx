/**
 * The machine code in the source panel: an instruction a row with what it costs, where it comes from, and arrows for jumps. Only the
 * rows on the screen exist.
 */
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { drawJumps, type Jump, LANE_WIDTH, layoutJumps, MOST_LANES } from '../draw/jumps';
import { heatStep } from '../state/cost_text';
import type { Session } from '../state/session';
import type { Code } from '../state/source_panel';
import type { Place } from '../state/symbol_api';
import { markedPieces, partExpression } from '../text/highlight';
import { baseName, plainText } from '../text/plain';
import { FindBar } from './FindBar';
import { InfoIcon } from './icons';
import { useSession } from './session_context';
import { CodeProblem, NoSymbol } from './SourceProblem';
import { ProfileText } from './text';
import { rowOfKey, useRowWindow } from './row_window';
import { useSize } from './use';

const ROW_HEIGHT = 20;
const HEADER_HEIGHT = 24;
const INSTRUCTION_LIMIT = 300;
/** px: of a character of the code, at most. */
const CHARACTER = 7.4;
/** Characters of the column that says where an instruction comes from. */
const ORIGIN_LIMIT = 18;

/** Mnemonic, registers, numbers, names and remarks, in the colors of the source. */
const TOKEN = /(<[^>]*>)|(#.*$)|(\$?-?\b0x[0-9a-f]+\b|\$?-?\b\d+\b)|(%[a-z0-9()]+)/g;

function Text({ text, found }: { text: string; found: RegExp | null }): JSX.Element {
    const plain = plainText(text, INSTRUCTION_LIMIT);
    const marked = markedPieces(plain, found);
    if (marked.some((piece) => piece.marked))
        return <bdi dir="ltr">{marked.map((piece) => (piece.marked ? <mark>{piece.text}</mark> : piece.text))}</bdi>;
    const space = plain.indexOf(' ');
    const mnemonic = space < 0 ? plain : plain.slice(0, space);
    const rest = space < 0 ? '' : plain.slice(space);
    const pieces: (JSX.Element | string)[] = [];
    let end = 0;
    for (const match of rest.matchAll(TOKEN)) {
        pieces.push(rest.slice(end, match.index));
        const kind = match[1] ? 'name' : match[2] ? 'remark' : match[3] ? 'number' : 'register';
        pieces.push(<span class={kind}>{match[0]}</span>);
        end = match.index + match[0].length;
    }
    return (
        <bdi dir="ltr">
            <b>{mnemonic}</b>
            {pieces}
            {rest.slice(end)}
        </bdi>
    );
}

/** Where an instruction comes from: the innermost frame, short; all of them in words. */
function originOf(session: Session, places: readonly Place[]): { text: string; title: string } {
    const { sourceText } = session.sourcePanel;
    const inner = places[places.length - 1];
    if (!inner || inner.line === 0) return { text: '', title: '' };
    const isInlined = places.length > 1;
    const isHere = inner.file === sourceText.value?.file;
    return {
        text: `${isHere ? '' : baseName(inner.file)}:${inner.line}${isInlined ? ` ${inner.func}` : ''}`,
        title: [...places]
            .reverse()
            .map((place) => plainText(`${place.func} ${place.file}:${place.line}`, 400))
            .join('\ninlined into '),
    };
}

/** px of the columns: as wide as what is in them. */
interface Widths {
    address: number;
    origin: number;
    jumps: number;
    text: number;
}

function longest(texts: readonly string[]): number {
    return texts.reduce((most, text) => Math.max(most, text.length), 0);
}

function widthsOf(session: Session, { instructions, places }: Code, syntax: number, lanes: number): Widths {
    const origins = longest(places.map((frames) => originOf(session, frames).text));
    const texts = longest(instructions.map((one) => one.texts[syntax] ?? ''));
    return {
        address: Math.max(62, longest(instructions.map((one) => one.address.toString(16))) * CHARACTER + 16),
        origin: origins === 0 ? 0 : Math.max(44, Math.min(ORIGIN_LIMIT, origins) * CHARACTER + 16),
        jumps: lanes * LANE_WIDTH + 16,
        // What follows the mnemonic begins in a column of its own.
        text: (Math.min(INSTRUCTION_LIMIT, texts) + 8) * CHARACTER + 16,
    };
}

interface RowProps {
    shown: Code;
    index: number;
    /** px from the top of all rows. */
    top: number;
    most: number;
    isLinked: boolean;
    isChosen: boolean;
    /** What is looked for. */
    found: RegExp | null;
}

function Row({ shown, index, top, most, isLinked, isChosen, found }: RowProps): JSX.Element {
    const session = useSession();
    const { costText, costTitle } = session.costText;
    const { instructionCosts, shownSyntax } = session.sourcePanel;
    const instruction = shown.instructions[index];
    const cost = instructionCosts.value.get(index);
    const origin = originOf(session, shown.places[index] ?? []);
    const heat = cost ? heatStep(cost.self, most) : 0;
    const title = cost ? costTitle(cost) : '';
    return (
        <div
            id={`instruction-${index}`}
            data-row={index}
            class={`code-row heat-${heat}${isLinked ? ' linked' : ''}${isChosen ? ' chosen' : ''}`}
            role="row"
            aria-rowindex={index + 1}
            aria-selected={isChosen}
            style={{ top: `${top}px` }}
        >
            <span role="gridcell" class="cost" title={title}>
                {costText(cost?.total ?? 0)}
            </span>
            <span role="gridcell" class="cost" title={title}>
                {costText(cost?.self ?? 0)}
            </span>
            <span role="gridcell" class="address">
                {(instruction?.address ?? 0).toString(16)}
            </span>
            <span role="gridcell" class="origin" title={origin.title}>
                <ProfileText text={origin.text} limit={60} />
            </span>
            <span role="gridcell" class="instruction">
                <Text text={instruction?.texts[shownSyntax.value] ?? ''} found={found} />
            </span>
        </div>
    );
}

interface JumpsProps {
    jumps: Jump[];
    /** px: of all rows that is seen first, and where that is. */
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
            rowHeight: ROW_HEIGHT,
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

function Listing({ shown }: { shown: Code }): JSX.Element {
    const session = useSession();
    const { markedIn } = session.sourceFind;
    const {
        chooseInstruction,
        chosenInstruction,
        codeWantsFocus,
        followCall,
        instructionCosts,
        linkedInstructions,
        openings,
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
        () => widthsOf(session, shown, shownSyntax.value, lanes),
        [shown, shownSyntax.value, lanes, file],
    );
    const height = Math.max(size.height - HEADER_HEIGHT, 0);
    const rows = useRowWindow(scroller, { count, rowHeight: ROW_HEIGHT, room: height, revealed: null });
    const most = [...instructionCosts.value.values()].reduce((max, cost) => Math.max(max, cost.self), 0);
    const linked = linkedInstructions.value;
    const chosen = chosenInstruction.value;
    const found = partExpression(markedIn('code'));

    const wanted = wantedInstruction.value;
    useLayoutEffect(() => {
        if (wanted && wanted.index >= 0 && height > 0) rows.reveal(wanted.index, 'around');
    }, [wanted, shown, height > 0]);
    // Without a source the code gets the keyboard.
    const opened = openings.value;
    useEffect(() => {
        if (opened > 0 && !sourceText.value?.text) scroller.current?.focus({ preventScroll: true });
    }, [opened]);
    useEffect(() => {
        if (codeWantsFocus.value) scroller.current?.focus({ preventScroll: true });
        codeWantsFocus.value = false;
    }, [shown]);

    /** Goes to where the jump or the call leads; false if the instruction is none. */
    const follow = (from: number): boolean => {
        const jump = jumps.find((one) => one.from === from);
        if (!jump) return followCall(from);
        chooseInstruction(jump.to);
        rows.reveal(jump.to, 'around');
        return true;
    };
    const onKeyDown = (event: KeyboardEvent): void => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const page = Math.max(1, Math.floor(height / ROW_HEIGHT) - 1);
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
                const row = (event.target as Element).closest<HTMLElement>('[data-row]');
                if (row && (window.getSelection()?.isCollapsed ?? true)) chooseInstruction(Number(row.dataset.row));
            }}
            onDblClick={(event) => {
                const row = (event.target as Element).closest<HTMLElement>('[data-row]');
                if (row && follow(Number(row.dataset.row))) window.getSelection()?.removeAllRanges();
            }}
        >
            <div
                class="code-table"
                style={Object.fromEntries(Object.entries(widths).map(([name, width]) => [`--${name}`, `${width}px`]))}
            >
                <div class="pane-header" role="row">
                    <span role="columnheader" class="cost">
                        Total
                    </span>
                    <span role="columnheader" class="cost">
                        Self
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
                <div class="code-rows" role="rowgroup" style={{ height: `${rows.height}px` }}>
                    {shown.instructions.slice(rows.first, rows.last).map((one, i) => (
                        <Row
                            key={one.address}
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
