/** The filters beside the search: the weight of samples, and the shown samples and frames. */
import type { JSX } from 'preact';
import { COMPARED_CHOICES } from '../compare/comparison';
import { FUNC_GROUPING } from '../engine/butterfly';
import { useSession } from '../session/context';
import type { Choice } from '../session/filters';
import { Choices } from '../ui/Choices';
import { SearchInput } from '../ui/SearchInput';
import { GROUP_SEARCH_HELP } from '../ui/search_help';
import { act } from '../window/windows';

interface SelectProps<Value extends string> {
    label: string;
    choices: readonly Choice<Value>[];
    value: Value;
    onChoose: (value: Value) => void;
}

function Select<Value extends string>({ label, choices, value, onChoose }: SelectProps<Value>): JSX.Element | null {
    if (choices.length < 2) return null;
    const hint = choices.find((choice) => choice.value === value)?.hint ?? '';
    return (
        <select
            class="select"
            aria-label={label}
            title={hint === '' ? label : `${label}: ${hint}`}
            value={value}
            onChange={(event) => {
                const chosen = choices.find((choice) => choice.value === event.currentTarget.value);
                if (chosen) onChoose(chosen.value);
            }}
        >
            {choices.map((choice) => (
                <option key={choice.value} value={choice.value} title={choice.hint}>
                    {choice.label}
                </option>
            ))}
        </select>
    );
}

/** Selects the property that colors the rects of a chart. */
export function ColorSelect(): JSX.Element {
    const { colorBy, colorChoices, setColorBy } = useSession().coloring;
    return <Select label="Color" choices={colorChoices.value} value={colorBy.value} onChoose={setColorBy} />;
}

const GROUPING_CHOICES: Choice<string>[] = [
    { value: 'functions', label: 'Functions', hint: '' },
    { value: 'namespace', label: 'Namespaces', hint: 'Also crates and packages, each with one total' },
    { value: 'directory', label: 'Directories', hint: 'Directories of source files, each with one total' },
    { value: 'terms', label: 'Patterns', hint: 'Functions that match patterns, each with one total' },
];

/** Selects the grouping of the list of functions. */
export function GroupingSelect(): JSX.Element {
    const { changeView, view } = useSession().store;
    const { groupsBy } = view.value;
    const areTerms = groupsBy !== null && !FUNC_GROUPING.includes(groupsBy);
    const chosen: Record<string, string | null> = { functions: null, terms: '' };
    return (
        <>
            <Select
                label="Group by"
                choices={GROUPING_CHOICES}
                value={areTerms ? 'terms' : (groupsBy ?? 'functions')}
                onChoose={(by) => changeView({ groupsBy: by in chosen ? (chosen[by] ?? null) : by }, 'push')}
            />
            {areTerms && (
                <SearchInput
                    id="group-terms"
                    label="Patterns of groups"
                    placeholder="std::, serde, /^json_/"
                    help={GROUP_SEARCH_HELP}
                    text={groupsBy}
                    onSearch={(typed, step) => changeView({ groupsBy: typed }, step)}
                />
            )}
        </>
    );
}

/** Selects the quantity that is equal on both sides of a comparison. */
export function NormalizationSelect(): JSX.Element {
    const { scaledBy, scaledByChoices, setScaledBy } = useSession().comparison;
    return (
        <Select label="Normalization" choices={scaledByChoices.value} value={scaledBy.value} onChoose={setScaledBy} />
    );
}

/** Selects the sides of a comparison that a view shows. */
export function ComparisonChoice(): JSX.Element | null {
    const { compared, setCompared } = useSession().comparison;
    if (!compared.value) return null;
    return (
        <Choices label="Comparison" choices={COMPARED_CHOICES} value={compared.value} onChoose={setCompared} keys="y" />
    );
}

export function SampleFilters(): JSX.Element {
    const session = useSession();
    const { idleCategory, setHidesIdle, setWeight, stackChoices, weight, weights } = session.filters;
    const { view } = session.store;
    const { setStackType } = session.treeChanges;
    const { hidesIdle, stackType } = view.value;
    // In a recording with waits, the choice between on-CPU and off-CPU time replaces the choice to hide idle samples.
    const { hasWaits } = session.info.value;
    const Weights = hasWaits ? Choices : Select;
    return (
        <div class="sample-filters">
            <ComparisonChoice />
            <Weights
                label="Sample weight"
                choices={weights.value.map(({ id, label, hint }) => ({ value: id, label, hint }))}
                value={weight.value.id}
                onChoose={setWeight}
                {...(hasWaits ? { keys: 'O' } : {})}
            />
            <Select
                label="Frame filter"
                choices={stackChoices.value}
                value={stackType}
                onChoose={(type) => act(setStackType(type))}
            />
            {idleCategory.value >= 0 && (!hasWaits || hidesIdle) && (
                <label class="checkbox" title="Samples whose leaf frame is in the category Idle">
                    <input type="checkbox" checked={!hidesIdle} onChange={() => setHidesIdle(!hidesIdle)} />
                    Include idle samples
                </label>
            )}
        </div>
    );
}
