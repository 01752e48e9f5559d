// Tables as text, Markdown and CSV.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [tableText] = await loadParts(['base/table_text']);

await check('copied tables are aligned text, Markdown that shows names as they are, and CSV that is no formula', () => {
    const table = {
        titles: ['Total', 'Function'],
        numbers: [true, false],
        rows: [
            [{ text: '1,234', value: 1234 }, { text: 'main' }],
            [{ text: '5', value: 5 }, { text: '  a|b<i>*_"x", y' }],
            [{ text: '—', value: 0 }, { text: '=1+1' }],
            [{ text: '7', value: 7 }, { text: '  in' }],
        ],
    };
    assertEqual(
        tableText.tableText(table, 'text'),
        ['Total  Function', '1,234  main', '    5    a|b<i>*_"x", y', '    —  =1+1', '    7    in', ''].join('\n'),
        'text',
    );
    assertEqual(
        tableText.tableText(table, 'markdown').split('\n')[3],
        '| 5 | &nbsp;&nbsp;a\\|b\\<i\\>\\*\\_"x", y |',
        'Markdown',
    );
    assertEqual(
        tableText.tableText(table, 'csv'),
        ['Total,Function', '1234,main', '5,"  a|b<i>*_""x"", y"', "0,'=1+1", '7,"  in"', ''].join('\r\n').replace(/\r\n$/, '\n'),
        'CSV',
    );
});
