/** All keys of the page. */
import type { JSX } from 'preact';
import { useSession } from '../session/context';
import { keyGroupsOf } from './key_help';

export function Keys(): JSX.Element {
    const keyGroups = keyGroupsOf(useSession());
    return (
        <div class="keys">
            {keyGroups.map((group) => (
                <section key={group.title}>
                    <h3>{group.title}</h3>
                    <dl class="key-lines">
                        {group.keys.map(([keys, meaning]) => (
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
    );
}
