/** Groups of functions, such as namespaces, each with one total. Enter filters the stacks by a group. */
import { computed, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Session } from '../app/session';
import { type FuncGroup, OTHER_GROUP } from '../engine/butterfly';
import { useModel, useSession } from '../session/context';
import { copyPlainName, copyTableItems } from '../table/copies';
import { Table } from '../table/Table';
import { type Column, shownColumns } from '../table/table_columns';
import { nameColumn, weightColumns } from '../table/weight_columns';
import { EmptyTree } from '../ui/EmptyTree';
import { ProfileText } from '../ui/text';
import { useRequest } from '../ui/use';
import { act, type MenuItem, menuItem } from '../window/windows';
import { groupSearch } from './group_search';

const TABLE = 'groups';
const ORDER = 'total';

function createGroupModel(session: Session) {
    const { changeView } = session.store;
    const { mergeMatching } = session.treeChanges;
    const { summary } = session.tree;
    const columns = computed<Column<FuncGroup>[]>(() =>
        weightColumns(session, { whole: () => summary.value?.rootTotal ?? 0 }),
    );
    const main = nameColumn<FuncGroup>({
        title: 'Group',
        cell: (row) => (
            <span class="tree-text in-list">
                <ProfileText text={row.name} />
            </span>
        ),
        text: (row) => row.name,
    });
    const searchOf = ({ name }: FuncGroup): string =>
        groupSearch(name, session.store.view.value.groupsBy ?? 'namespace');
    // No search finds what matches no term.
    const canSearch = ({ name }: FuncGroup): boolean => name !== OTHER_GROUP;
    const filter = (row: FuncGroup): void => {
        if (canSearch(row)) changeView({ search: searchOf(row) }, 'push');
    };
    const merge = (row: FuncGroup): void => {
        if (canSearch(row)) act(mergeMatching(searchOf(row)));
    };

    function menuOf(row: FuncGroup, rows: readonly FuncGroup[]): { items: MenuItem[] } {
        return {
            items: [
                menuItem('Filter stacks by this group', () => filter(row), {
                    keys: 'Enter',
                    enabled: canSearch(row),
                }),
                menuItem('Merge the functions of this group', () => merge(row), {
                    keys: 'm',
                    enabled: canSearch(row),
                }),
                ...copyTableItems({
                    rows,
                    columns: [...shownColumns(TABLE, columns.value, 0), main],
                    prepare: async () => undefined,
                }),
            ],
        };
    }
    return { columns, main, filter, menuOf, merge };
}

function compare(column: string, a: FuncGroup, b: FuncGroup): number {
    if (column === 'name') return a.name.localeCompare(b.name);
    return column === 'self' ? b.self - a.self : b.total - a.total;
}

export function GroupList(): JSX.Element {
    const session = useSession();
    const { columns, filter, main, menuOf, merge } = useModel(createGroupModel);
    const { queryOf, summary } = session.tree;
    const by = session.store.view.value.groupsBy ?? 'namespace';
    const request = useRequest(() => session.engine.funcGroups(queryOf(), by), [by, summary.value]);
    const selected = useSignal('');
    const sort = session.tables.sortOf(TABLE, ORDER).value;
    const rows = [...(request.value.value ?? [])].sort((a, b) => compare(sort.column, a, b));
    if (sort.reversed) rows.reverse();
    return (
        <Table
            name={TABLE}
            label="Groups of functions"
            role="grid"
            rows={rows}
            columns={columns.value}
            main={main}
            sort={sort}
            usualSort={ORDER}
            selectedAt={rows.findIndex((row) => row.name === selected.value)}
            reveal={0}
            rowKey={(row) => row.name}
            onSelect={(row) => {
                selected.value = row.name;
            }}
            onKey={(event, row) => {
                if (!row || event.key !== 'm') return false;
                merge(row);
                return true;
            }}
            onOpen={filter}
            onCopy={(row) => copyPlainName(row.name)}
            menuOf={(row) => menuOf(row, rows)}
            error={request.error.value}
            empty={summary.value?.rootTotal === 0 ? <EmptyTree /> : null}
        />
    );
}
