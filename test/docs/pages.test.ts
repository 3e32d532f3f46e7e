import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTree } from '../support/tree.ts';
import { checkedPages } from './blocks.ts';

const MOST_WORDS = 2_200; // ten minutes

const tree = readTree();
const pages = [...checkedPages()].filter(([path]) => path.startsWith('docs/'));

describe('a hand-written page', () => {
  it('is read in ten minutes', () => {
    const words = pages.map(([path, text]) => [path, text.split(/\s+/).length] as const);
    expect(words.filter(([, count]) => count > MOST_WORDS)).toEqual([]);
  });

  it('begins with a title, and with sentences about what the reader gets', () => {
    const first = pages.map(([path, text]) => [path, text.split('\n')] as const);
    const others = first.filter(
      ([, [title = '', , sentence = '']]) => !/^# \S/.test(title) || !/^(?:[A-Z[]|`[^`])/.test(sentence),
    );
    expect(others.map(([path]) => path)).toEqual([]);
  });

  it('does not begin with a formula', () => {
    const formula = /^(?:(?:With|After|On) this page|This page (?:helps|shows|describes))\b/;
    expect(pages.filter(([, text]) => formula.test(text.split('\n')[2] ?? '')).map(([path]) => path)).toEqual([]);
  });

  it('links only to headings that exist', () => {
    expect(pages.flatMap(([path, text]) => brokenAnchors(path, text))).toEqual([]);
  });

  it('names only source files and folders that exist', () => {
    const all = [...tree].filter(([path]) => path.endsWith('.md') && !path.startsWith('.changeset/'));
    expect(all.flatMap(([path, text]) => missingSources(path, text))).toEqual([]);
  });
});

describe('the guides', () => {
  it('have a page for each subject', () => {
    const missing = SUBJECTS.filter((name) => !tree.has(`docs/guides/${name}.md`));
    expect(missing).toEqual([]);
  });

  it('name the identity providers that people ask for', () => {
    const page = tree.get('docs/guides/sign-in-providers.md') ?? '';
    for (const name of ['Microsoft Entra ID', 'Google', 'GitHub', 'Okta', 'Keycloak']) {
      expect(page).toContain(`\n## ${name}\n`);
    }
  });
});

const SUBJECTS = [
  ...[
    'aggregation',
    'sign-in',
    'sign-in-providers',
    'connect-accounts',
    'sign-in-operation',
    'policy',
    'composite-tools',
  ],
  ...['code-mode', 'optimizer', 'observability', 'writing-a-plugin', 'run', 'manager', 'manager-api', 'manager-mcp'],
  ...['secrets', 'registry', 'skills', 'packages', 'isolation', 'networks', 'remote-auth'],
];

/** Files in backticks, by the end of their path, and folders from the root. */
function missingSources(path: string, text: string): readonly string[] {
  const prose = text.replace(/```[\s\S]*?```/g, '');
  const files = [...prose.matchAll(/`((?:[\w.-]+\/)*[\w.-]+\.tsx?)`/g)].map(([, name = '']) => name);
  const folders = [...prose.matchAll(/`((?:core|plugins|hosts|test|scripts)(?:\/[\w-]+)+)\/?`/g)].map(
    ([, name = '']) => name,
  );
  const known = [...tree.keys()];
  return [
    ...files.filter((name) => !name.startsWith('./') && !known.some((each) => `/${each}`.endsWith(`/${name}`))),
    ...folders.filter((name) => !known.some((each) => each.startsWith(`${name}/`))),
  ].map((name) => `${path}: ${name}`);
}

function brokenAnchors(path: string, text: string): readonly string[] {
  const prose = text.replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s#]*)#([^)\s]+)\)/g)].flatMap(([, target = '', anchor = '']) => {
    if (/^[a-z]+:/.test(target)) return [];
    const page = target === '' ? path : normalize(join(dirname(path), target));
    return anchorsOf(tree.get(page) ?? '').has(anchor) ? [] : [`${path} -> ${target}#${anchor}`];
  });
}

/** Anchors as GitHub makes them. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = text.replace(/```[\s\S]*?```/g, '').match(/^#+ .*$/gm) ?? [];
  return new Set(
    headings.map((heading) =>
      heading
        .replace(/^#+ /, '')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
