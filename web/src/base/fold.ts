/**
 * Names without their template arguments: `std::map<std::string, int>::at` is `std::map<…>::at`. What a type parameter
 * hides of the name itself stays: operators, lambdas, and the `<Type as Trait>` that a name in Rust begins with.
 */

const WORD = /[\w$]/;
const LAMBDA = /^<(?:lambda|unnamed|closure|\{)/;
const OPERATOR = /\boperator\s*(?:<=>|<<=?|>>=?|->\*?|<=?|>=?)$/;

/** The end of the brackets that open at `at`, one past them; -1 if they do not close. */
function endOfBrackets(name: string, at: number): number {
    let depth = 0;
    for (let i = at; i < name.length; i++) {
        const character = name[i];
        if (character === '<') depth++;
        else if (character === '>' && name[i - 1] !== '-' && name[i - 1] !== '=' && --depth === 0) return i + 1;
    }
    return -1;
}

/** The longest name of an operator that begins right after the word `operator`; '' for none. */
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
        // Brackets that do not close are no arguments, nor is what follows.
        if (end < 0) return folded + name.slice(i);
        folded += isArguments ? '<…>' : character;
        i = end;
    }
    return folded;
}

/** Where the function's own name begins, after namespaces and classes, outside of all brackets. */
export function ownNameAt(name: string): number {
    let depth = 0;
    let at = 0;
    for (let i = 0; i < name.length; i++) {
        const character = name[i];
        if (character === '(' && depth === 0 && i > 0 && !name.startsWith('(anonymous', i)) break;
        if (character === '<' || character === '(') depth++;
        else if (character === '>' || character === ')') depth--;
        else if (character === ':' && depth === 0 && name[i + 1] === ':') at = i + 2;
    }
    return at;
}
