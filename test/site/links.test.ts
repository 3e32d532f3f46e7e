import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../scripts/docs/sources.ts';
import { anchorOf, anchorsOf, linksOf } from '../../scripts/site/anchors.ts';
import { llmsText } from '../../scripts/site/llms-text.ts';
import { pageOf, pagesIn, type SitePage } from '../../scripts/site/pages.ts';
import { SECTIONS } from '../../scripts/site/sections.ts';
import { forSite } from '../../scripts/site/write-project.ts';
import { readTree } from '../support/tree.ts';

const pages = new Map([...readTree()].filter(([path]) => path.endsWith('.md')));

describe('the pages of the repository', () => {
  it('link to files and anchors that exist', () => {
    const anchors = new Map([...pages].map(([path, text]) => [path, anchorsOf(text)]));
    const broken = [...pages].flatMap(([path, text]) =>
      linksOf(text)
        .filter((target) => !/^[a-z]+:/.test(target))
        .filter((target) => {
          const [file = '', anchor] = target.split('#');
          const to = file === '' ? path : posix.normalize(posix.join(posix.dirname(path), decodeURI(file)));
          if (!existsSync(join(ROOT, to))) return true;
          return anchor !== undefined && anchors.has(to) && !anchors.get(to)?.has(anchor);
        })
        .map((target) => `${path} -> ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('are in a section of the site, with a title and a first sentence', () => {
    const site = pagesIn(ROOT);
    const known = new Set(SECTIONS.map(({ folder }) => folder));
    const outside = [...site.keys()].filter((path) => path !== 'index.md' && !known.has(path.split('/')[0] ?? ''));
    expect(outside).toEqual([]);
    expect([...site.keys()]).toEqual(
      expect.arrayContaining(['guides/run.md', 'plugins/rate-limit.md', 'plugins/stores/redis.md']),
    );
    expect([...site.values()].filter(({ summary }) => summary.length < 12).map(({ path }) => path)).toEqual([]);
  });
});

describe('the pages of the site', () => {
  const known = new Map([
    ['docs/guides/run.md', 'guides/run.md'],
    ['plugins/health/README.md', 'plugins/health.md'],
  ]);
  const page = (path: string, text: string, source = `docs/${path}`): string =>
    forSite({ path, text, source }, 'https://git.example/r', known);

  it('link to other pages of the site, and to the repository for everything else', () => {
    expect(page('start/install.md', '[a](../guides/run.md#x) [b](https://c.example) [d](#e)')).toBe(
      '[a](../guides/run.md#x) [b](https://c.example) [d](#e)',
    );
    expect(page('start/install.md', '[a](../../README.md#top) `[b](../../x)`')).toBe(
      '[a](https://git.example/r/blob/main/README.md#top) `[b](../../x)`',
    );
    expect(page('guides/run.md', '[a](../decisions)')).toBe('[a](https://git.example/r/blob/main/docs/decisions)');
    expect(page('guides/run.md', '[a](../../plugins/health/README.md#b) [c](../../plugins/health)')).toBe(
      '[a](../plugins/health.md#b) [c](../plugins/health.md)',
    );
    const readme = (text: string): string => page('plugins/stores/redis.md', text, 'plugins/stores/redis/README.md');
    expect(readme('[a](../../../docs/guides/run.md#x) [b](../../health/README.md) [c](index.ts)')).toBe(
      '[a](../../guides/run.md#x) [b](../health.md) [c](https://git.example/r/blob/main/plugins/stores/redis/index.ts)',
    );
    // a page that does not exist is left as it is, so that the build fails
    expect(page('guides/run.md', '[a](other.md)')).toBe('[a](other.md)');
    expect(page('guides/run.md', '```\n[a](../../x)\n```')).toBe('```\n[a](../../x)\n```');
  });

  it('have the anchors of git hosts', () => {
    expect(anchorOf('`incoming-auth/oidc`: who, and what?')).toBe('incoming-authoidc-who-and-what');
    expect([...anchorsOf('# A b\n\n## A b\n\n```\n# no\n```\n\n## [C](x.md) `d.*`\n')]).toEqual([
      'a-b',
      'a-b-1',
      'c-d',
    ]);
  });

  it('are listed for programs with one sentence each', () => {
    const made = [
      pageOf('index.md', '# Home\n\nAll of it. More.'),
      pageOf('start/install.md', '# One\n\n- list\n\nSays `a.b` once. Twice.'),
    ];
    const text = llmsText(new Map<string, SitePage>(made.map((one) => [one.path, one])), '/docs/');
    expect(text).toContain('> All of it.\n');
    expect(text).toContain('- [One](/docs/start/install.html): Says a.b once.\n');
  });
});
