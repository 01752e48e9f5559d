/** All keys of the page, with a search field. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useModel } from '../session/context';
import { keyGroupsOf } from './key_help';

export function Keys(): JSX.Element {
    const groups = useModel(keyGroupsOf);
    const [text, setText] = useState('');
    const input = useRef<HTMLInputElement>(null);
    useEffect(() => input.current?.focus(), []);
    const words = text.toLowerCase().split(/\s+/);
    const found = groups.flatMap(({ title, keys }) => {
        const lines = keys.filter(([names, meaning]) => {
            const line = `${title} ${meaning} ${names.join(' ')}`.toLowerCase();
            return words.every((word) => line.includes(word));
        });
        return lines.length > 0 ? [{ title, lines }] : [];
    });
    return (
        <>
            <div class="search keys-search">
                <input
                    ref={input}
                    type="text"
                    aria-label="Find keys"
                    placeholder="Find keys, such as zoom"
                    value={text}
                    onInput={(event) => setText(event.currentTarget.value)}
                />
            </div>
            <div class="keys">
                {found.map(({ title, lines }) => (
                    <section key={title}>
                        <h3>{title}</h3>
                        <dl class="key-lines">
                            {lines.map(([keys, meaning]) => (
                                <div key={meaning}>
                                    <dt>
                                        {keys.map((key) => (
                                            <kbd key={key}>{key}</kbd>
                                        ))}
                                    </dt>
                                    <dd>{meaning}</dd>
                                </div>
                            ))}
                        </dl>
                    </section>
                ))}
            </div>
            {found.length === 0 && <p role="status">No key matches.</p>}
        </>
    );
}
