/** A stack as a list, leaf first: the frames that fit, and the number of remaining callers. */
import type { JSX } from 'preact';
import { useSession } from '../session/context';
import { ProfileText } from './text';

const LIB_LIMIT = 40;

interface FrameListProps {
    /** The functions of the frames, leaf first. */
    frames: readonly number[];
    most: number;
    nameLimit: number;
}

export function FrameList({ frames, most, nameLimit }: FrameListProps): JSX.Element {
    const { funcName } = useSession().names;
    const rest = frames.length - most;
    return (
        <>
            <ol class="sample-stack">
                {frames.slice(0, most).map((func, at) => {
                    const name = funcName(func);
                    return (
                        <li key={at}>
                            <ProfileText text={name?.name ?? '…'} limit={nameLimit} />
                            {name && name.lib !== '' && (
                                <span class="muted">
                                    <ProfileText text={name.lib} limit={LIB_LIMIT} />
                                </span>
                            )}
                        </li>
                    );
                })}
            </ol>
            {rest > 0 && <p class="muted">{`and ${rest} more ${rest === 1 ? 'caller' : 'callers'}`}</p>}
        </>
    );
}
