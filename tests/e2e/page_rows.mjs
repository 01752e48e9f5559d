// Reads the text of the page as a user sees it, and waits for it, in every browser.

export const TIMEOUT_MS = 30_000;

/** Runs in the page before its own scripts: counts what it has asked its engine and what was not answered yet, for settle(). */
export function countQuestions() {
    window.unanswered = 0;
    window.Worker = class extends window.Worker {
        constructor(...args) {
            super(...args);
            this.asked = 0;
            window.newestWorker = this;
            this.addEventListener('message', ({ data }) => {
                if (data.kind !== 'progress') this.count(-1);
            });
        }
        postMessage(...args) {
            if (!(args[0] instanceof Blob)) this.count(1); // a page that is one file gives its worker the engine
            super.postMessage(...args);
        }
        terminate() {
            this.count(-this.asked); // what it was asked is not answered any more
            super.terminate();
        }
        count(by) {
            this.asked += by;
            window.unanswered += by;
        }
    };
}

/** The rows on the screen, top to bottom. */
export function readRows(page) {
    return page.$$eval('.tree-row', (rows) =>
        rows
            .map((row) => ({
                at: Number(row.dataset.row),
                level: Number(row.getAttribute('aria-level')),
                expanded: row.getAttribute('aria-expanded'),
                selected: row.getAttribute('aria-selected') === 'true',
                share: row.querySelector('.share').textContent,
                total: row.querySelector('.number').textContent,
                self: row.querySelector('.number.self').textContent,
                selfShare: row.querySelector('.self-share').textContent,
                name: row.querySelector('.tree-text bdi')?.textContent ?? '',
            }))
            .sort((a, b) => a.at - b.at),
    );
}

export async function selectedRow(page) {
    return (await readRows(page)).find((row) => row.selected);
}

const rounded = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1, useGrouping: false });

/** A number as tables show it: times have one digit after the point. */
export function shownNumber(value) {
    return Number(rounded.format(value));
}

/** The number that a cell shows. */
export function numberOf(text) {
    return text === '—' ? 0 : Number(text.replace(/,/g, ''));
}

/**
 * Waits until the page has nothing more to do: its engine has answered, and neither address nor text change any more.
 * The pauses are the page's own timers, so that on a slow machine those that it waits for itself (after typing, before
 * it writes the address) are over first.
 */
export async function settle(page) {
    const state = () =>
        page.evaluate(async () => {
            await new Promise((done) => setTimeout(done, 60));
            return [window.unanswered, location.href, document.querySelector('.below').innerText].join('\n');
        });
    const end = Date.now() + TIMEOUT_MS;
    let before = '';
    for (let same = 0; same < 4 && Date.now() < end; ) {
        const now = await state();
        same = now === before && now.startsWith('0\n') ? same + 1 : 0;
        before = now;
    }
}

/** After a key that moves in a tree or opens its rows: waits until the engine has answered. The address comes later. */
export async function answered(page) {
    await page.evaluate(async () => {
        for (let quiet = 0; quiet < 4; quiet = window.unanswered === 0 ? quiet + 1 : 0)
            await new Promise((done) => setTimeout(done, 16));
    });
}

/** Asks until the answer is good, and returns it; fails if it never is. */
export async function askUntil(isGood, ask) {
    const end = Date.now() + TIMEOUT_MS;
    for (;;) {
        const answer = await ask();
        if (isGood(answer)) return answer;
        if (Date.now() > end) throw new Error(`no good answer of ${isGood}: ${JSON.stringify(answer)}`);
        await new Promise((done) => setTimeout(done, 50));
    }
}

/** The rows of the table of a view that can be seen, by their numbers: the first and the last, and which one is selected. */
export function rowsInSight(page) {
    return page.evaluate(() => {
        const table = document.querySelector('#view .tree');
        const { left, top, bottom } = table.getBoundingClientRect();
        const rowAt = (y) => Number(document.elementFromPoint(left + 50, y)?.closest('[data-row]')?.dataset.row ?? -1);
        const active = table.getAttribute('aria-activedescendant');
        return {
            count: Number(table.ariaRowCount ?? table.getAttribute('aria-rowcount')) - 1,
            first: rowAt(top + 24 + 2),
            last: rowAt(bottom - 2),
            selected: Number(table.querySelector('.tree-row.selected')?.dataset.row ?? -1),
            hasTexts: !table.querySelector('.tree-rows').innerText.includes('…'),
            isActiveThere: active === null || document.getElementById(active) !== null,
        };
    });
}

/** Goes through a table that has more rows than a browser has room for, by keys, by the scroll bar and by a wheel. */
export async function walkLongTable(page, assertEqual) {
    const see = async (isGood, what) => {
        const seen = await askUntil((rows) => isGood(rows) && rows.isActiveThere && rows.hasTexts, () => rowsInSight(page));
        assertEqual(`${isGood(seen)} ${seen.isActiveThere} ${seen.hasTexts}`, 'true true true', `${what}: ${JSON.stringify(seen)}`);
        return seen;
    };
    const scroll = (by) => page.evaluate((px) => document.querySelector('#view .tree').scrollBy(0, px), by);
    await page.focus('#view .tree');
    const { count } = await rowsInSight(page);
    await page.keyboard.press('End');
    const end = await see(({ last, selected }) => last === count - 1 && selected === count - 1, 'End');
    await page.keyboard.press('ArrowUp');
    await see(({ first, selected }) => first === end.first && selected === count - 2, 'a step up');
    await page.evaluate(() => {
        const table = document.querySelector('#view .tree');
        table.scrollTop = (table.scrollHeight - table.clientHeight) / 2;
    });
    const middle = await see(({ first }) => Math.abs(first / count - 0.5) < 0.01, 'the scroll bar in the middle');
    for (const [px, rows] of [[100, 5], [100, 10], [-200, 0]]) {
        await scroll(px);
        await see(({ first }) => first === middle.first + rows, `the wheel by ${px} px`);
    }
    await page.keyboard.press('Home');
    await see(({ first, selected }) => first === 0 && selected === 0, 'Home');
}
