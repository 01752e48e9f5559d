/**
 * The key of a function's color, if it is not the category: its library, its name, or its module. The module is the
 * namespace, crate or package at the start of the name, else the source file, else the library.
 */
import type { FuncInfo } from '../engine/api';
import { foldTemplates } from './fold';
import { baseName } from './plain';

export const COLOR_KEYS = ['category', 'library', 'function', 'module'] as const;
export type ColorKey = (typeof COLOR_KEYS)[number];

/** Returns a folded name without its parameters and its return type: "std::sort<…>" for "void std::sort<…>(int*)". */
function qualifiedName(folded: string): string {
    const inner = folded.replace(/\(anonymous (?:namespace|class)\)/g, '{anonymous}');
    const parameters = inner.indexOf('(', 1);
    const head = (parameters < 0 ? inner : inner.slice(0, parameters)).replace(/\boperator\b.*$/, 'operator');
    return head.slice(head.lastIndexOf(' ') + 1);
}

/** Returns the namespace of a Rust type: alloc for "<alloc::vec::Vec<T> as Trait>::push". */
function selfType(name: string): string {
    if (!name.startsWith('<')) return name;
    return name.replace(/^[<&*\s]+(?:(?:mut|const|dyn)\s+)*/, '').split(/ as |[<>]/)[0] ?? '';
}

function namespaceOf(name: string): string {
    const parts = qualifiedName(foldTemplates(selfType(name))).split('::');
    return parts.length > 1 ? (parts.find((part) => part !== '' && part !== '{anonymous}') ?? '') : '';
}

/**
 * Returns the package of a Go function, such as net/http of "net/http.(*conn).serve", or of a Java method, such as
 * java.util of "java.util.HashMap.get".
 */
function packageOf({ name, file }: FuncInfo): string {
    if (/\.go$/.test(file)) return /^[\w.~-]+(?:\/[\w.~-]+)*?(?=\.[^/]*$)/.exec(name)?.[0].replace(/\..*$/, '') ?? '';
    if (/\.java$/.test(file)) return /^[a-z][\w]*(?:\.[a-z]\w*)*(?=\.[A-Z])/.exec(name)?.[0] ?? '';
    return '';
}

/** Returns '' if the function has no such property. */
export function colorKeyOf(info: FuncInfo, by: ColorKey): string {
    if (by === 'library') return info.lib;
    if (by === 'function') return foldTemplates(info.name);
    return packageOf(info) || namespaceOf(info.name) || baseName(info.file) || info.lib;
}

/** Hashes a name with FNV-1a (32 bits), so that a name has the same color in every profile. */
export function hashOf(text: string): number {
    let hash = 0x811c9dc5;
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    hash ^= hash >>> 15; // the lowest bits select the color, and now depend on all bits
    return hash >>> 0;
}
