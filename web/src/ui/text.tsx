/**
 * Shows text of the profile, always as a text node, with visible names for invisible characters, and never from right
 * to left.
 */
import { Fragment, type JSX } from 'preact';
import { nameParts } from '../base/fold';
import { markedPieces } from '../base/highlight';
import { plainText, ROW_LIMIT } from '../base/plain';

interface ProfileTextProps {
    text: string;
    limit?: number;
    /** An expression whose matches are marked. */
    find?: RegExp | null;
    class?: string;
}

export function ProfileText(props: ProfileTextProps): JSX.Element {
    const { text, limit = ROW_LIMIT, find = null } = props;
    const plain = plainText(text, limit);
    if (!find)
        return (
            <bdi class={props.class} dir="ltr">
                {plain}
            </bdi>
        );
    return (
        <bdi class={props.class} dir="ltr">
            {markedPieces(plain, find).map((piece) => (piece.marked ? <mark>{piece.text}</mark> : piece.text))}
        </bdi>
    );
}

/** Shows the name of a function, with the function's own name stronger than its namespaces and parameters. */
export function NameText({ text, limit = ROW_LIMIT, find = null }: Omit<ProfileTextProps, 'class'>): JSX.Element {
    const plain = plainText(text, limit);
    const pieces = markedPieces(plain, find);
    let at = 0;
    const [before, own, after] = nameParts(plain).map((part) => {
        const from = at;
        at += part.length;
        let start = 0;
        return pieces.map(({ text: piece, marked }) => {
            const shown = plain.slice(Math.max(from, start), Math.min(at, start + piece.length));
            start += piece.length;
            return shown !== '' && marked ? <mark>{shown}</mark> : shown;
        });
    });
    return (
        <bdi class="func-name" dir="ltr">
            {before}
            <b>{own}</b>
            {after}
        </bdi>
    );
}

/** Shows a name with line breaks after `::`, `<` and `,`, rather than within words. */
export function BreakingText({ text, limit = ROW_LIMIT }: Pick<ProfileTextProps, 'text' | 'limit'>): JSX.Element {
    const parts = plainText(text, limit).split(/(?<=::|<|,)/);
    return (
        <bdi dir="ltr">
            {parts.map((part, at) => (
                <Fragment key={at}>
                    {part}
                    {at < parts.length - 1 && <wbr />}
                </Fragment>
            ))}
        </bdi>
    );
}
