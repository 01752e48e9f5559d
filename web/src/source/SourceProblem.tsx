/** The message about missing source or code, with the reason and a solution. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Session } from '../app/session';
import { contained } from '../engine/contained';
import { useSession } from '../session/context';
import { ProfileText } from '../ui/text';
import { act } from '../window/windows';
import type { SourceText } from './source_texts';

const TEXT_LIMIT = 400;
const MOST_LINES = 500;

/** The name in profiles for the library of code that a JIT compiler generated. */
export const JIT = 'JIT';
const PYTHON = 'Python';

/** Returns the directory of a path, without the last slash. */
function directoryOf(file: string): string {
    return file.slice(0, Math.max(1, file.lastIndexOf('/')));
}

/** Returns the name of the source panel's function, or '' before the page has the name. */
function useFunction(): { name: string; lib: string } {
    const session = useSession();
    const { fetchNames, funcName, namesVersion } = session.names;
    const { sourcePanel } = session.sourcePanel;
    const func = sourcePanel.value?.func ?? -1;
    namesVersion.value;
    useEffect(() => {
        if (func >= 0) act(fetchNames([func]));
    }, [func]);
    const known = func >= 0 ? funcName(func) : undefined;
    return { name: known?.name ?? '', lib: known?.lib ?? '' };
}

/** Matches messages of the server about the file. Other messages say that the server does not know the file. */
const MISSING_FILE = /^(cannot open|.* is (not a file|not a text|larger than))/;

function OtherDirectory({ file }: { file: string }): JSX.Element {
    return (
        <>
            <p>If the file is in another directory on this machine, open the profile with</p>
            <p>
                <code>
                    prof load --source-map <ProfileText text={directoryOf(file)} limit={TEXT_LIMIT} />
                    =DIRECTORY …
                </code>
            </p>
            <p>
                For sources of packages, use a debug server: <code>--debuginfod URL</code>.
            </p>
        </>
    );
}

function OtherProgram(): JSX.Element {
    return (
        <p>
            prof shows files that the debug info of the recorded program names. The program has to be on this machine,
            unchanged. For a copy elsewhere use <code>prof load --symbol-dir DIR</code>, for a package{' '}
            <code>--debuginfod URL</code>.
        </p>
    );
}

/** The costs of the lines, which the page has without the text. */
function LineTable(): JSX.Element | null {
    const session = useSession();
    const { costText } = session.costText;
    const { chooseLine, chosenLine, lineCosts } = session.sourcePanel;
    const lines = (lineCosts.value?.lines ?? []).filter((cost) => cost.line > 0 && cost.total !== 0);
    if (lines.length === 0) return null;
    return (
        <table class="bars lines">
            <thead>
                <tr>
                    <th scope="col">Line</th>
                    <th scope="col">Total</th>
                    <th scope="col">Self</th>
                </tr>
            </thead>
            <tbody>
                {lines.slice(0, MOST_LINES).map((cost) => (
                    <tr key={cost.line} class={cost.line === chosenLine.value ? 'chosen' : ''}>
                        <th scope="row">
                            <button type="button" class="link" onClick={() => chooseLine(cost.line)}>
                                {cost.line}
                            </button>
                        </th>
                        <td>{costText(cost.total)}</td>
                        <td>{costText(cost.self)}</td>
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

export function SourceProblem({ text }: { text: SourceText | null }): JSX.Element {
    const session = useSession();
    const { info } = session;
    const { sourcePanel } = session.sourcePanel;
    const { name, lib } = useFunction();
    if (text) {
        return (
            <div class="empty" role="status">
                <h2>{contained ? 'No source file available' : 'Source file not found'}</h2>
                <p>
                    <ProfileText text={text.file} limit={TEXT_LIMIT} />
                </p>
                <p>
                    <ProfileText text={text.problem} limit={TEXT_LIMIT} />.
                </p>
                {!contained &&
                    (MISSING_FILE.test(text.problem) ? <OtherDirectory file={text.file} /> : <OtherProgram />)}
                <LineTable />
            </div>
        );
    }
    const isLibrary = (sourcePanel.value?.func ?? -1) >= info.value.funcCount;
    if (isLibrary)
        return (
            <div class="empty" role="status">
                <h2>This row is a whole library</h2>
                <p>To see the functions of this library, undo the transform that collapsed the library.</p>
            </div>
        );
    return (
        <div class="empty" role="status">
            <h2>The source file of this function is unknown</h2>
            <p>
                {name !== '' && <ProfileText text={name} limit={TEXT_LIMIT} />}
                {lib !== '' && (
                    <>
                        {' of '}
                        <ProfileText text={lib} limit={80} />
                    </>
                )}{' '}
                has no debug info.
            </p>
            <p>
                Build it with <code>-g</code>, install its debug package, or find its debug info with{' '}
                <code>prof load --symbol-dir DIR</code> or <code>--debuginfod URL</code>.
            </p>
        </div>
    );
}

/** Returns whether the server's message about the code repeats the end of its message about the source. */
function isSaidOfSource(session: Session, sentence: string): boolean {
    const { sourceText } = session.sourcePanel;
    const text = sourceText.value;
    const reason = sentence.slice(sentence.indexOf(': ') + 1);
    return text !== null && text.text === null && text.problem.endsWith(reason);
}

/** `sentence` is the server's message. */
export function CodeProblem({ sentence }: { sentence: string }): JSX.Element {
    const session = useSession();
    const { lib } = useFunction();
    return (
        <div class="empty" role="status">
            <h2>No machine code available</h2>
            {isSaidOfSource(session, sentence) ? (
                <p>The reason is the same as for the source.</p>
            ) : (
                <>
                    <p>
                        <ProfileText text={sentence} limit={TEXT_LIMIT} />.
                    </p>
                    <p>
                        {contained ? null : lib === JIT ? (
                            <>
                                prof caches the code of JIT functions for the user and machine that recorded them, until
                                newer files need the space.
                            </>
                        ) : (
                            <>
                                The code comes from the recorded program or library, which has to be on this machine,
                                unchanged. For a copy elsewhere use <code>prof load --symbol-dir DIR</code>.
                            </>
                        )}
                    </p>
                </>
            )}
        </div>
    );
}

/** Shown for a function without an address in a library. */
export function NoSymbol(): JSX.Element {
    const { lib } = useFunction();
    return (
        <div class="empty" role="status">
            <h2>No machine code available</h2>
            <p>
                {lib === JIT
                    ? 'This is JIT code. prof has its instructions only if the compiler writes a jitdump file: see man prof-record.'
                    : lib === PYTHON
                      ? 'This is Python code, which the interpreter runs. It has no machine code.'
                      : lib === ''
                        ? 'The profile does not have the library of this function.'
                        : 'The start of this function is unknown: it has neither a symbol nor unwind information.'}
            </p>
        </div>
    );
}
