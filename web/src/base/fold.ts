/**
 * Names without their template arguments: `std::map<std::string, int>::at` is `std::map<…>::at`. Operators, lambdas,
 * and the `<Type as Trait>` at the start of a name in Rust stay.
 */

const WORD = /[\w$]/;
const LAMBDA = /^<(?:lambda|unnamed|closure|\{)/;
const OPERATOR = /\boperator\s*(?:<=>|<<=?|>>=?|->\*?|<=?|>=?)$/;

/** Returns the position after the bracket that closes the bracket at `at`, or -1 if none closes it. */
function endOfBrackets(name: string, at: number): number {
    let depth = 0;
    for (let i = at; i < name.length; i++) {
        const character = name[i];
        if (character === '<') depth++;
        else if (character === '>' && name[i - 1] !== '-' && name[i - 1] !== '=' && --depth === 0) return i + 1;
    }
    return -1;
}

/** Returns the longest operator name after the word `operator`, or '' for none. */
function operatorAt(name: string, at: number): string {
    return /^\s*(?:<=>|<<=|>>=|<<|>>|->\*|->|<=|>=|<|>)/.exec(name.slice(at, at + 8))?.[0] ?? '';
}

export function foldTemplates(name: string): string {
    if (!name.includes('<')) return name;
    let folded = '';
    for (let i = 0; i < name.length; ) {
        const character = name[i] ?? '';
        if (character === 'o' && /^operator(?![\w$])/.test(name.slice(i, i + 9)) && !WORD.test(name[i - 1] ?? ' ')) {
            const operator = `operator${operatorAt(name, i + 8)}`;
            folded += operator;
            i += operator.length;
            continue;
        }
        const isArguments =
            character === '<' &&
            (WORD.test(name[i - 1] ?? '') || name[i - 1] === ':' || OPERATOR.test(folded.trimEnd())) &&
            !LAMBDA.test(name.slice(i, i + 12));
        const end = isArguments ? endOfBrackets(name, i) : i + 1;
        // Unpaired brackets are not arguments, so the rest of the name stays.
        if (end < 0) return folded + name.slice(i);
        folded += isArguments ? '<…>' : character;
        i = end;
    }
    return folded;
}

/**
 * Returns the position of the function's own name, after return type, namespaces and classes, outside of all brackets.
 */
function ownNameAt(name: string): number {
    let depth = 0;
    let at = 0;
    let word = 0;
    for (let i = 0; i < name.length; i++) {
        const character = name[i] ?? '';
        const isParameters = character === '(' && depth === 0 && i > 0 && !name.startsWith('(anonymous', i);
        if (isParameters && name[i - 1] !== '.')
            return word === i || /\boperator\b/.test(name.slice(at, i)) ? at : Math.max(at, word);
        if ('<({'.includes(character)) depth++;
        else if ('>)}'.includes(character) && name[i - 1] !== '-') depth--;
        else if (depth !== 0) continue;
        else if (character === ' ') word = i + 1;
        else if (name.startsWith('::', i) && (name[i + 2] !== '<' || LAMBDA.test(name.slice(i + 2)))) at = i + 2;
        // In Go and Java, a path or a receiver can precede the name.
        else if (character === '.' && (/^[\w.~-]*[/(]/.test(name) || /[A-Z]\w*$/.test(name.slice(0, i)))) at = i + 1;
    }
    return at;
}

const OWN_NAME =
    /^(?:operator(?: ?\(\)| ?\[\]|\s*(?:<=>|<<=?|>>=?|->\*?|[^\s\w(])+| [^(]+)|~?[^<(\s]+?(?=::<|[<(\s]|$))/;

/** Splits a name into the part before the function's own name, the own name, and template arguments with parameters. */
export function nameParts(name: string): [before: string, own: string, after: string] {
    const at = ownNameAt(name);
    const end = at + (OWN_NAME.exec(name.slice(at))?.[0].length ?? name.length);
    // Some texts only look like a function name, such as a sentence.
    if (at === 0 && !/^(?:::)?[<(]|^ \(/.test(name.slice(end))) return ['', name, ''];
    return [name.slice(0, at), name.slice(at, end), name.slice(end)];
}

/** Returns a name without its parameters if the name is longer than `limit`. */
export function foldParameters(name: string, limit: number): string {
    if (name.length <= limit) return name;
    const [before, own, after] = nameParts(name);
    const at = after.indexOf('(');
    return at < 0 || after.startsWith('()', at) ? name : `${before}${own}${after.slice(0, at)}(…)`;
}
