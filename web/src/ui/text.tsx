/** Text out of the profile. It is always a text node, with what is invisible spelled out, and it never runs backwards. */
import { Fragment, type JSX } from 'preact';
import { markedPieces } from '../base/highlight';
import { plainText, ROW_LIMIT } from '../base/plain';

interface ProfileTextProps {
    text: string;
    limit?: number;
    /** Marks what it finds. */
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

/** A name that may be broken after `::`, `<` and `,`, rather than within its words. */
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
