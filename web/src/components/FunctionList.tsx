/** The functions of the view, sorted by a column. Enter shows the source of one. */
import { computed } from '@preact/signals';
import type { JSX } from 'preact';
import type { FuncRow } from '../engine/api';
import { copyName, copyTableItems } from '../state/copies';
import {
    FUNCTION_ORDER,
    functionReveal,
    functionSort,
    functionsError,
    selectedFunc,
    selectFunction,
    sortedFunctions,
} from '../state/functions';
import { fetchMissingNames, fetchNames, namesVersion } from '../state/names';
import { CALLERS_KEY, FUNCTION_KEYS, functionMenu, showCallers } from '../state/node_menu';
import { openSource } from '../state/source_panel';
import { transformFunctionByKey } from '../state/transform_offers';
import { summary } from '../state/tree';
import type { MenuItem } from '../state/windows';
import { EmptyTree } from './EmptyTree';
import { type Column, shownColumns, Table } from './Table';
import { copiedName, FuncText, foldItem, nameColumn, nameTooltip, rowClassOf, weightColumns } from './weight_columns';

const TABLE = 'functions';

const columns = computed<Column<FuncRow>[]>(() => weightColumns({ whole: () => summary.value?.rootTotal ?? 0 }));

const main = nameColumn<FuncRow>({
    cell: (row) => <FuncText func={row.func} class=" in-list" />,
    text: (row) => copiedName(row.func),
});

function onListKey(event: KeyboardEvent, row: FuncRow | null): boolean {
    if (row && event.key === CALLERS_KEY) showCallers(row.func);
    else if (row && FUNCTION_KEYS.has(event.key)) void transformFunctionByKey(event.key, row.func);
    else return false;
    return true;
}

function copyItems(): MenuItem[] {
    return copyTableItems({
        rows: sortedFunctions.value,
        columns: [...shownColumns(TABLE, columns.value, 0), main],
        prepare: (copied) => fetchNames(copied.map((row) => row.func)),
    });
}

export function FunctionList(): JSX.Element {
    const all = sortedFunctions.value;
    const func = selectedFunc.value;
    namesVersion.value;
    return (
        <Table
            name={TABLE}
            label="Functions"
            role="grid"
            rows={all}
            columns={columns.value}
            main={main}
            sort={functionSort.value}
            usualSort={FUNCTION_ORDER}
            selectedAt={func < 0 ? -1 : all.findIndex((row) => row.func === func)}
            reveal={functionReveal.value}
            rowKey={(row) => row.func}
            rowClass={(row) => rowClassOf(row.func)}
            onSelect={(row, scroll) => selectFunction(row.func, scroll)}
            onKey={onListKey}
            onOpen={(row) => void openSource({ func: row.func })}
            onCopy={(row) => copyName(row.func)}
            menuOf={(row) => functionMenu(row.func, copyItems())}
            headMenu={() => [foldItem(), ...copyItems()]}
            tooltipOf={(row, isCut) => nameTooltip(row.func, isCut)}
            onVisible={(visible) => fetchMissingNames(visible.map((row) => row.func))}
            error={functionsError.value}
            empty={summary.value?.rootTotal === 0 ? <EmptyTree /> : null}
        />
    );
}
