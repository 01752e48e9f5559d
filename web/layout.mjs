// Writes web/src/engine/layout.ts: the structs and enums of the engine's C, as web/layout.c lists them.
//
//     node layout.mjs LAYOUT.wasm > layout.ts
import { readFileSync } from 'node:fs';

const [STRUCT, NUMBER, INDEX, ENUM] = [0, 1, 2, 3]; // the kinds of struct entry in layout.c
const ENTRY_WORDS = 4;
const GETTERS = { f64: 'getFloat64', i64: 'getBigInt64', u32: 'getUint32', i32: 'getInt32', u8: 'getUint8' };

const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]));
const { memory, entries, count } = instance.exports;
const words = new Uint32Array(memory.buffer, entries(), count() * ENTRY_WORDS);
const bytes = Buffer.from(memory.buffer);
const textAt = (pointer) => bytes.toString('utf8', pointer, bytes.indexOf(0, pointer));

const groups = [];
for (let at = 0; at < words.length; at += ENTRY_WORDS) {
    const [kind, name, type, value] = words.subarray(at, at + ENTRY_WORDS);
    const entry = { kind, name: textAt(name), type: textAt(type), value };
    if (kind === STRUCT || kind === ENUM) groups.push({ ...entry, members: [] });
    else groups[groups.length - 1].members.push(entry);
}

const camel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());

function readOf({ name, kind, type, value }) {
    const getter = type === 'u8' ? `data.getUint8(at + ${value})` : `data.${GETTERS[type]}(at + ${value}, true)`;
    return `        ${camel(name)}: ${type === 'i64' ? `Number(${getter})` : getter},${kind === INDEX ? ' // or NONE' : ''}`;
}

function structText({ name, value, members }) {
    const fields = members.filter(({ kind }) => kind === NUMBER || kind === INDEX);
    return `/** struct ${name} */
export const ${name.toUpperCase()} = {
    size: ${value},
    at: { ${fields.map((field) => `${camel(field.name)}: ${field.value}`).join(', ')} },
    read: (data: DataView, at: number) => ({
${fields.map(readOf).join('\n')}
    }),
} as const;
`;
}

/** Returns the names of values that start at 0, by value. For other enums, returns the values by name. */
function enumText({ name, members }) {
    const isList = members.every(({ value }, at) => value === at);
    const texts = members.map((one) => (isList ? `'${one.name}'` : `${one.name}: ${one.value}`)).join(', ');
    return `/** enum ${name} */
export const ${name.toUpperCase()} = ${isList ? `[${texts}]` : `{ ${texts} }`} as const;
`;
}

process.stdout.write(`// Made from the headers in lib/ by web/layout.c and web/layout.mjs. Do not edit.\n\n`);
process.stdout.write(groups.map((group) => (group.kind === STRUCT ? structText(group) : enumText(group))).join('\n'));
