import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findPlugin, planSchema } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { configRows } from '../scripts/docs/config-table.ts';
import { HOOK_PROSE, KINDS, liveHooks } from '../scripts/docs/hooks-page.ts';
import { generatedPages, ROOT, stalePages } from '../scripts/docs/pages.ts';
import { SLOT_PROSE } from '../scripts/docs/slots-page.ts';
import { withSnippets } from '../scripts/docs/snippets.ts';
import { pluginCore } from './support/plugin-core.ts';
import { proves } from './support/proves.ts';
import { readTree } from './support/tree.ts';

describe('the generated pages', () => {
  it('are up to date: npm run docs changes nothing', async () => {
    const { pages } = await generatedPages();
    expect(stalePages(pages)).toEqual([]);
  });

  it('are deterministic', async () => {
    const [first, second] = [await generatedPages(), await generatedPages()];
    expect([...second.pages]).toEqual([...first.pages]);
  });

  it('are reported when they differ', async () => {
    const { pages } = await generatedPages();
    const changed = new Map([...pages, ['docs/reference/hooks.md', 'other']]);
    expect(stalePages(changed)).toContain('docs/reference/hooks.md');
    changed.delete('docs/reference/slots.md');
    expect(stalePages(changed)).toContain('docs/reference/slots.md');
  });
});

describe('the page of hooks', () => {
  it('describes exactly the hooks of the live table', () => {
    expect(Object.keys(HOOK_PROSE).sort()).toEqual(
      liveHooks()
        .map(({ name }) => name)
        .sort(),
    );
  });

  it('has the argument names of the live hooks', () => {
    const written = liveHooks().map(({ name }) => {
      const { signature } = HOOK_PROSE[name as keyof typeof HOOK_PROSE];
      const inner = signature.slice(1, signature.indexOf(') →'));
      return [name, inner === '' ? [] : inner.split(', ').map((argument) => argument.split(':')[0])];
    });
    expect(written).toEqual(liveHooks().map(({ name, argumentNames }) => [name, argumentNames]));
  });

  it('explains every kind of hook that is in use', () => {
    expect(liveHooks().filter(({ kind }) => KINDS[kind] === undefined)).toEqual([]);
  });

  it('describes every slot', () => {
    expect(Object.keys(SLOT_PROSE).sort()).toEqual(Object.keys(pluginCore().slots).sort());
  });
});

describe('the tables of configuration', () => {
  it('give dotted keys, types, defaults and what is required', () => {
    const schema = z.strictObject({
      name: z.string().describe('who'),
      size: z.int().min(1).default(3),
      inner: z.strictObject({ kinds: z.array(z.enum(['a', 'b'])).default([]) }).prefault({}),
      more: z.record(z.string(), z.strictObject({ on: z.boolean() })).optional(),
    });
    expect(configRows(schema)).toEqual([
      ['`name`', '`string`', '*required*', 'who'],
      ['`size`', '`integer >= 1`', '`3`', ''],
      ['`inner`', '`object`', '`{}`', ''],
      ['`inner.kinds`', '`list of "a" | "b"`', '`[]`', ''],
      ['`more`', '`map of object`', '', ''],
      ['`more.*.on`', '`boolean`', '*required*', ''],
    ]);
  });
});

describe('what can be configured', () => {
  it('has a description for every key, and a summary for every plugin', async () => {
    const plugins = await Promise.all(
      Object.keys(catalogue).map((address) => findPlugin(address, { catalogue, baseDir: '' })),
    );
    const silent = plugins.filter(({ summary }) => summary === undefined).map(({ address }) => address);
    const schemas: [string, z.ZodType][] = [
      ['plan', planSchema],
      ...plugins.map(({ address, config }): [string, z.ZodType] => [address, config]),
      ...plugins.flatMap(({ slotOptions = {} }) => Object.entries(slotOptions)),
    ];
    const meaningless = schemas.flatMap(([where, schema]) =>
      configRows(schema).flatMap(([key, , , meaning]) => (meaning === '' ? [`${where}: ${key}`] : [])),
    );
    expect([silent, meaningless]).toEqual([[], []]);
  });
});

describe('snippets', () => {
  const source = 'a\n// region: one\n  two();\n    three();\n// endregion\nb\n';
  const empty = '<!-- snippet: x.ts#one -->\n<!-- /snippet -->';

  it('come from their region without its indentation', () => {
    const filled = '<!-- snippet: x.ts#one -->\n```ts\ntwo();\n  three();\n```\n<!-- /snippet -->';
    expect(withSnippets(empty, () => source)).toBe(filled);
    expect(withSnippets(filled, () => source)).toBe(filled);
    const named = filled.replace('```ts', '```ts file=y.ts');
    expect(withSnippets(named.replace('two', 'old'), () => source)).toBe(named);
  });

  it('fail when the region does not exist', () => {
    expect(() => withSnippets(empty, () => 'a')).toThrow('x.ts has no region named one');
    expect(() => withSnippets(empty, () => '// region: one\n')).toThrow('region one of x.ts has no end');
  });
});

describe('the page of the architecture', () => {
  const page = readFileSync(join(ROOT, 'docs/project/architecture.md'), 'utf8');
  const section = (title: string) => page.slice(page.indexOf(`## ${title}\n`)).split('\n## ')[0] ?? '';

  it('answers its ten questions with files that exist', () => {
    const rows = section('Ten places by name').match(/^\| where .*$/gm) ?? [];
    expect(rows).toHaveLength(10);
    for (const row of rows) {
      const paths = [...row.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path);
      expect(paths, row).not.toEqual([]);
      expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    }
  });

  it.each([
    ['request', 10],
    ['workload', 7],
  ])('draws one %s through files that exist', (what, least) => {
    const paths = section(`One ${what}`).match(/^(core|hosts)\/\S+\.ts/gm) ?? [];
    expect(paths.length).toBeGreaterThan(least);
    expect(paths.filter((path) => !path.includes('*') && !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

describe('the written pages', () => {
  it('link to existing files', () => {
    const broken = [...readTree()]
      .filter(([path]) => path.endsWith('.md'))
      .flatMap(([path, text]) =>
        linksOf(text)
          .filter((target) => !existsSync(join(ROOT, dirname(path), target)))
          .map((target) => `${path} -> ${target}`),
      );
    expect(broken).toEqual([]);
  });

  proves('ask.node.decision-note', 'say how and why Node is pinned', () => {
    const note = readFileSync(join(ROOT, 'docs/decisions/001-pinned-node.md'), 'utf8');
    const pinned = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).optionalDependencies;
    expect(Object.keys(pinned).filter((name) => !note.includes(name))).toEqual([]);
    for (const heading of HEADINGS) expect(note).toContain(`\n## ${heading}\n`);
  });

  it('give every decision its three headings', () => {
    const notes = [...readTree()].filter(([path]) => /^docs\/decisions\/\d{3}-/.test(path));
    expect(notes.length).toBeGreaterThan(0);
    const lacking = notes.filter(([, text]) => HEADINGS.some((heading) => !text.includes(`\n## ${heading}\n`)));
    expect(lacking.map(([path]) => path)).toEqual([]);
  });
});

const HEADINGS = ['What we chose', 'What it looks like in use', 'What we gave up'];

/** Relative targets of inline links without anchors; code blocks are ignored. */
function linksOf(text: string): readonly string[] {
  const prose = text.replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target.replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target));
}
