/** The functions of the view, sorted by a column. Enter shows the source of the selected function. */
import { computed } from '@preact/signals';
import type { JSX } from 'preact';
import type { Session } from '../app/session';
import { changeColumns } from '../compare/change_columns';
import type { FuncRow } from '../engine/api';
import { useModel, useSession } from '../session/context';
import { copyTableItems } from '../table/copies';
import { Table } from '../table/Table';
import { type Column, shownColumns } from '../table/table_columns';
import {
    copiedName,
    FuncText,
    foldItem,
    nameColumn,
    nameTooltip,
    rowClassOf,
    weightColumns,
} from '../table/weight_columns';
import { EmptyTree } from '../ui/EmptyTree';
import type { MenuItem } from '../window/windows';
import { act } from '../window/windows';
import { FUNCTION_ORDER } from './functions';
import { CALLERS_KEY, FUNCTION_KEYS } from './node_menu';

const TABLE = 'functions';

function onListKey(session: Session, event: KeyboardEvent, row: FuncRow | null): boolean {
    const { showCallers } = session.nodeMenu;
    const { transformFunctionByKey } = session.transformOffers;
    if (row && event.key === CALLERS_KEY) showCallers(row.func);
    else if (row && FUNCTION_KEYS.has(event.key)) act(transformFunctionByKey(event.key, row.func));
    else return false;
    return true;
}

/** Creates the columns of the table, and the actions on its rows. */
function createFunctionListModel(session: Session) {
    const { sortedFunctions } = session.functions;
    const { fetchNames } = session.names;
    const { ofFunc } = session.certainty;
    const { isChange, summary } = session.tree;

    const columns = computed<Column<FuncRow>[]>(() =>
        isChange.value
            ? changeColumns(session, { by: 'self', knownOf: ({ func }, figure) => ofFunc(func, figure) })
            : weightColumns(session, { whole: () => summary.value?.rootTotal ?? 0 }),
    );

    const main = nameColumn<FuncRow>({
        cell: (row) => <FuncText func={row.func} class=" in-list" />,
        text: (row) => copiedName(session, row.func),
    });

    function copyItems(): MenuItem[] {
        return copyTableItems({
            rows: sortedFunctions.value,
            columns: [...shownColumns(TABLE, columns.value, 0), main],
            prepare: (copied) => fetchNames(copied.map((row) => row.func)),
        });
    }

    return { columns, main, copyItems };
}

export function FunctionList(): JSX.Element {
    const session = useSession();
    const { columns, copyItems, main } = useModel(createFunctionListModel);
    const { copyName } = session.copies;
    const { functionReveal, functionSort, functionsError, selectFunction, selectedFunc, sortedFunctions } =
        session.functions;
    const { fetchMissingNames, namesVersion } = session.names;
    const { functionMenu } = session.nodeMenu;
    const { openSource } = session.sourcePanel;
    const { summary } = session.tree;
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
            rowClass={(row) => rowClassOf(session, row.func)}
            onSelect={(row, scroll) => selectFunction(row.func, scroll)}
            onKey={(event, row) => onListKey(session, event, row)}
            onOpen={(row) => act(openSource({ func: row.func }))}
            onCopy={(row) => act(copyName(row.func))}
            menuOf={(row) => functionMenu(row.func, copyItems())}
            headMenu={() => [foldItem(), ...copyItems()]}
            tooltipOf={(row, isCut) => nameTooltip(session, row.func, isCut)}
            onVisible={(visible) => fetchMissingNames(visible.map((row) => row.func))}
            error={functionsError.value}
            empty={summary.value?.rootTotal === 0 ? <EmptyTree /> : null}
        />
    );
}
