/**
 * The source file in the source panel: its costs in gutters, colored hot lines, and the selected line, which follows
 * the selected instruction.
 */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Session } from '../app/session';
import { describeWeight } from '../base/format';
import { partExpression } from '../base/highlight';
import { plainText } from '../base/plain';
import type { LineCosts } from '../engine/source';
import { useSession } from '../session/context';
import { InfoIcon } from '../ui/icons';
import { inPercent } from '../window/settings';
import { heatStep } from './cost_text';
import type { LineMark, SourceEditor } from './editor';
import { FindBar } from './FindBar';
import { JIT, SourceProblem } from './SourceProblem';

const NAME_LIMIT = 48;

function nameOf(session: Session, func: number, limit: number): string {
    const { funcName } = session.names;
    return plainText(funcName(func)?.name ?? '', limit);
}

function marksOf(session: Session, costs: LineCosts): Map<number, LineMark> {
    const { info } = session;
    const { costText, costTitle, sideText, toneOf } = session.costText;
    const { weightUnit } = session.filters;
    const { lineHeat, mostHeat } = session.sourcePanel;
    const marks = new Map<number, LineMark>();
    const sides = costs.sides && {
        base: new Map(costs.sides.base.map((cost) => [cost.line, cost.total])),
        new: new Map(costs.sides.new.map((cost) => [cost.line, cost.total])),
    };
    const { interval } = info.value;
    const unit = weightUnit.value;
    for (const cost of costs.lines) {
        const [base, changed] = [sides?.base.get(cost.line) ?? 0, sides?.new.get(cost.line) ?? 0];
        if (cost.line === 0 || (cost.total === 0 && cost.self === 0 && base === 0)) continue;
        const calls = costs.inlined.filter((call) => call.line === cost.line);
        const [first] = calls;
        const more = calls.length > 1 ? ` +${calls.length - 1}` : '';
        marks.set(cost.line, {
            total: sides ? sideText(base) : costText(cost.total),
            self: sides ? sideText(changed) : costText(cost.self),
            title: costTitle(cost),
            tone: toneOf(cost.self || cost.total),
            heat: heatStep(lineHeat.value.get(cost.line) ?? 0, mostHeat.value),
            inlined: first ? `${nameOf(session, first.func, NAME_LIMIT)} ${costText(first.total)}${more}` : '',
            inlinedTitle: `Inlined here:\n${calls
                .slice(0, 20)
                .map((call) => `${nameOf(session, call.func, 200)}: ${describeWeight(call.total, unit, interval)}`)
                .join('\n')}`,
        });
    }
    return marks;
}

/** Says why the lines of a text have no costs, if the user needs to know. */
function NoLines(): JSX.Element | null {
    const session = useSession();
    const { funcName, namesVersion } = session.names;
    const { hasSource, lineCosts, sourcePanel } = session.sourcePanel;
    namesVersion.value;
    const costs = lineCosts.value;
    if (!hasSource.value || !costs || costs.total === 0 || costs.lines.some(({ line }) => line > 0)) return null;
    const isJit = funcName(sourcePanel.value?.func ?? -1)?.lib === JIT;
    return (
        <p class="note" role="status">
            <InfoIcon /> The samples in this file have no line numbers.
            {isJit && ' JIT compilers that write a jitdump file record them: see man prof-record.'}
        </p>
    );
}

/** `share` is the part of the width. */
export function SourceView({ share }: { share: number }): JSX.Element {
    const session = useSession();
    const { namesVersion } = session.names;
    const { markedIn } = session.sourceFind;
    const { chooseLine, chosenLine, hasSource, lineCosts, openings, sourceText, wantedLine } = session.sourcePanel;
    const { isChange, summary } = session.tree;
    const holder = useRef<HTMLDivElement>(null);
    const [editor, setEditor] = useState<SourceEditor | null>(null);
    const [problem, setProblem] = useState('');
    const shown = sourceText.value;
    const costs = lineCosts.value;
    const hasText = shown !== null && shown.text !== null;

    useEffect(() => {
        let made: SourceEditor | null = null;
        let isGone = false;
        if (!hasText) return;
        import('./editor').then(
            ({ SourceEditor: Editor }) => {
                if (isGone || !holder.current) return;
                made = new Editor(holder.current, { onChoose: (line) => chooseLine(line) });
                setEditor(made);
            },
            () => setProblem('The source view could not be loaded. Is prof still running?'),
        );
        return () => {
            isGone = true;
            made?.destroy();
            setEditor(null);
        };
    }, [hasText]);

    useEffect(() => {
        if (!editor || !shown || shown.text === null) return;
        editor.setText(shown.text, shown.file, `Source of ${plainText(shown.file, 400)}`);
    }, [editor, shown]);
    const marked = markedIn('source');
    useEffect(() => {
        editor?.setFound(partExpression(marked));
    }, [editor, shown, marked]);
    namesVersion.value;
    const rootTotal = summary.value?.rootTotal;
    useEffect(() => {
        if (editor && costs) editor.setMarks(marksOf(session, costs));
    }, [editor, shown, costs, inPercent.value, rootTotal, namesVersion.value]);
    useEffect(() => {
        editor?.setChosen(chosenLine.value);
    }, [editor, shown, chosenLine.value]);
    useEffect(() => {
        if (editor && wantedLine.value && wantedLine.value.source === shown?.source)
            editor.reveal(wantedLine.value.line);
    }, [editor, shown, wantedLine.value]);
    // A user who opened the panel by key continues in the source.
    const opened = openings.value;
    useEffect(() => {
        if (opened > 0 && !document.activeElement?.closest('.code')) editor?.focus();
    }, [editor, opened]);

    return (
        <section class="source-pane" aria-label="Source" style={{ flexBasis: `${share * 100}%` }}>
            <NoLines />
            {hasSource.value && (
                <div class="pane-header" aria-hidden="true">
                    <span class="cost">{isChange.value ? 'Base' : 'Total'}</span>
                    <span class="cost">{isChange.value ? 'New' : 'Self'}</span>
                    <span>Line</span>
                </div>
            )}
            {problem !== '' && <p class="empty">{problem}</p>}
            {!hasSource.value && <SourceProblem text={shown} />}
            <div ref={holder} class={hasText ? 'source-editor' : 'source-editor absent'} />
            <FindBar pane="source" />
        </section>
    );
}
