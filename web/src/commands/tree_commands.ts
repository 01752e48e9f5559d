/** Commands that change the shown stacks and rows. */
import { mergeMatchingLabel } from '../calltree/transform_offers';
import { MARKER_TABS, NODE_TABS } from '../view/codec';
import { toggleTemplates } from '../window/settings';
import { act, isPaletteOpen } from '../window/windows';
import { type Command, command } from './command';
import type { CommandSession } from './commands';

export function treeCommands(session: CommandSession): Command[] {
    const { info } = session;
    const { selectedFunc } = session.functions;
    const { changeView, search, view } = session.store;
    const { goToMatch } = session.treeSearch;
    const { invert, mergeMatching } = session.treeChanges;
    const isTreeSearched = (): boolean => search.value.trim() !== '' && NODE_TABS.has(view.value.tab);
    /** Returns the function that is selected in the open view. */
    const functionInView = (): number =>
        view.value.tab === 'functions' ? selectedFunc.value : (session.tree.selected.value?.func ?? -1);
    const openPalette = (): void => {
        isPaletteOpen.value = true;
    };
    return [
        command('Command palette', openPalette, { key: 'Ctrl+k', isEverywhere: true, isHidden: true }),
        command(
            'Filter stacks or markers',
            () => document.querySelector<HTMLInputElement>('#stack-search, #marker-search')?.focus(),
            { key: '/' },
        ),
        command('Next matching row', () => act(goToMatch(1)), { key: 'n', isOffered: isTreeSearched }),
        command('Previous matching row', () => act(goToMatch(-1)), { key: 'N', isOffered: isTreeSearched }),
        {
            get title() {
                return mergeMatchingLabel(search.value);
            },
            key: '',
            isOffered: () => search.value.trim() !== '' && !MARKER_TABS.has(view.value.tab),
            run: () => act(mergeMatching()),
        },
        command('Switch between on-CPU, off-CPU and both', session.filters.nextWeight, {
            key: 'O',
            isOffered: () => info.value.hasWaits,
        }),
        command('Switch between change, base and new side', session.comparison.nextCompared, {
            key: 'y',
            isOffered: () => session.comparison.compared.value !== null,
        }),
        command('Invert call stack', () => act(invert()), { key: 'i' }),
        command(
            'Show callers and callees of the selected function',
            () => session.nodeMenu.showButterfly(functionInView()),
            { key: 'b', isOffered: () => view.value.tab !== 'butterfly' && functionInView() >= 0 },
        ),
        command('Add a note to the selected function', () => session.notes.addFunction(functionInView()), {
            isOffered: () => functionInView() >= 0,
        }),
        command('Fold or show chains of calls', () => changeView({ showsChains: !view.value.showsChains }, 'push'), {
            isOffered: () => view.value.tab === 'calltree',
        }),
        command('Fold or show template arguments', toggleTemplates, { key: 't' }),
        command('Drop samples outside matching markers', session.markerFilter.keepSamplesInsideFound, {
            isOffered: session.markerFilter.isMarkerSearchShown,
        }),
    ];
}
