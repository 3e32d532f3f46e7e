import { describe, expect, it } from 'vitest';
import { readTree } from '../support/tree.ts';

const MOST = 150;
/** Named by the compiler in the declarations of every package that calls `defineHook`. */
const IN_DECLARATIONS = ['HookDefinition'];
const EXPORTED = /export (?:type )?\{([^}]*)\}/g;
const IMPORTED = /(?:import|export) (?:type )?\{([^}]*)\} from '@toolmgr\/core'/g;

describe('the exports of the core', () => {
  const tree = readTree();
  const exported = namesIn(tree.get('core/index.ts') ?? '', EXPORTED);

  it(`are at most ${MOST}`, () => {
    expect(exported.length).toBeGreaterThan(100);
    expect(exported.length).toBeLessThanOrEqual(MOST);
  });

  it('are each used by a plugin or a host, or named on the pages about hooks and slots', () => {
    const sources = [...tree].filter(([path]) => /^(plugins|hosts)\/.*\.tsx?$/.test(path));
    const used = new Set(sources.flatMap(([, text]) => namesIn(text, IMPORTED)));
    const pages = ['docs/reference/hooks.md', 'docs/reference/slots.md'].map((path) => tree.get(path) ?? '').join();
    const named = (name: string) => new RegExp(`\\b${name}\\b`).test(pages);
    expect(exported.filter((name) => !used.has(name) && !named(name))).toEqual(IN_DECLARATIONS);
  });
});

function namesIn(text: string, lists: RegExp): readonly string[] {
  return [...text.matchAll(lists)].flatMap(([, names = '']) =>
    names.split(',').flatMap((name) => /^\s*(?:type )?(\w+)/.exec(name)?.[1] ?? []),
  );
}
