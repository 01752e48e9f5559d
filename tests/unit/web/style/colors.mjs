// The colors and sizes of the style sheets: all are in one place, and texts can be read in both themes.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { linearRgb, writeHexColors } from '../../../../web/oklch.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const source = resolve(fileURLToPath(import.meta.url), '../../../../../web/src');
const LEAST_CONTRAST = 4.5;
const css = readFileSync(join(source, 'style/colors.css'), 'utf8');
const HUES = ['red', 'orange', 'yellow', 'green', 'teal', 'blue', 'purple', 'magenta'];

/** The oklch() values of a theme by name: [lightness, chroma, hue]. */
function tokensOf(theme) {
    const [light, dark] = css.split(':root[data-theme="dark"]');
    const found = new Map();
    for (const text of theme === 'light' ? [light] : [light, dark])
        for (const [, name, l, c, h] of text.matchAll(/--([\w-]+): oklch\(([\d.]+)% ([\d.]+) ([\d.]+)\)/g))
            found.set(name, [l / 100, Number(c), Number(h)]);
    return found;
}

function contrast(one, other) {
    const luminance = (color) => [0.2126, 0.7152, 0.0722].reduce((sum, part, at) => sum + part * linearRgb(...color)[at], 0);
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
}

await check('colors and sizes of type are written in the style sheet of colors only', () => {
    const LITERAL = /#[0-9a-f]{3,8}\b(?=[;, )'])|\b(?:rgba?|hsla?|oklch)\([\d.]|font-size: \d|fontSize: '\d/i;
    const files = readdirSync(source, { recursive: true }).filter((name) => /\.(css|tsx?)$/.test(name) && name !== 'style/colors.css');
    const found = files.flatMap((name) =>
        readFileSync(join(source, name), 'utf8').split('\n').filter((line) => LITERAL.test(line) && !/^\s*(\/?\*|\/\/)/.test(line)).map((line) => `${name}: ${line.trim()}`),
    );
    assertEqual(found.join('\n'), '', 'the other places');
});

await check('the build writes colors as canvases read them', () => {
    assertEqual(writeHexColors('--a: oklch(100% 0 0); --b: oklch(62.8% 0.258 29.2 / 50%)'), '--a: #ffffff; --b: #ff000080', 'white and red');
    assertEqual(/oklch\(\d/.test(writeHexColors(css)), false, 'whether others are left');
});

for (const theme of ['light', 'dark']) {
    const tokens = tokensOf(theme);
    await check(`eight hues have one lightness (${theme})`, () => {
        assertEqual(new Set(HUES.map((name) => tokens.get(name)[0])).size, 1, 'different lightnesses');
        assertEqual(HUES.filter((name) => linearRgb(...tokens.get(name)).some((part) => part < -0.001 || part > 1.001)).join(), '', 'hues out of sRGB');
    });
    await check(`texts have contrast on what is behind them (${theme})`, () => {
        const grounds = ['surface', 'surface-quiet', 'surface-stripe', 'surface-raised', 'accent-tint', 'selected', 'share-fill'];
        const pairs = [
            ...['text', 'text-quiet'].flatMap((text) => grounds.map((ground) => [text, ground])),
            ...['accent', 'good', 'doubtful', 'change-less-text', 'change-more-text'].flatMap((text) => grounds.slice(0, 4).map((ground) => [text, ground])),
            ['accent-text', 'accent'],
            ['mark-text', 'mark'],
        ];
        const weak = pairs.filter(([text, ground]) => contrast(tokens.get(text), tokens.get(ground)) < LEAST_CONTRAST);
        assertEqual(weak.map(([text, ground]) => `${text} on ${ground}: ${contrast(tokens.get(text), tokens.get(ground)).toFixed(2)}`).join(', '), '', 'weak texts');
    });
}
