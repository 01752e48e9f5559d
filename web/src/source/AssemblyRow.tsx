/** A row of machine code: its costs, its address, its origin, and the colored instruction. */
import type { JSX } from 'preact';
import type { Session } from '../app/session';
import { markedPieces } from '../base/highlight';
import { baseName, plainText } from '../base/plain';
import { useSession } from '../session/context';
import { ProfileText } from '../ui/text';
import { heatStep } from './cost_text';
import type { Code } from './source_texts';
import type { Place } from './symbol_api';

export const INSTRUCTION_LIMIT = 300;

/** The parts of an instruction with colors: mnemonic, registers, numbers, names and comments. */
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

/** Returns the origin of an instruction: the innermost frame as a short text, and all frames as a long text. */
export function originOf(session: Session, places: readonly Place[]): { text: string; title: string } {
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

interface RowProps {
    shown: Code;
    index: number;
    /** The distance from the top of all rows, px. */
    top: number;
    most: number;
    isLinked: boolean;
    isChosen: boolean;
    /** The searched text, or null. */
    found: RegExp | null;
}

export function AssemblyRow({ shown, index, top, most, isLinked, isChosen, found }: RowProps): JSX.Element {
    const session = useSession();
    const { costText, costTitle, toneOf } = session.costText;
    const { instructionCosts, shownSyntax } = session.sourcePanel;
    const instruction = shown.instructions[index];
    const cost = instructionCosts.value.get(index);
    const origin = originOf(session, shown.places[index] ?? []);
    const heat = cost ? heatStep(Math.abs(cost.self), most) : 0;
    const tone = cost && heat > 0 ? ` ${toneOf(cost.self)}` : '';
    const title = cost ? costTitle(cost) : '';
    return (
        <div
            id={`instruction-${index}`}
            data-row={index}
            class={`code-row heat-${heat}${tone}${isLinked ? ' linked' : ''}${isChosen ? ' chosen' : ''}`}
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
