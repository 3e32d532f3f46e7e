import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { plain } from './anchors.ts';
import { SECTIONS } from './sections.ts';

/** A page of the site. */
export interface SitePage {
  /** Path on the site, such as `guides/run.md`; that of a page in `docs` is its path there. */
  readonly path: string;
  /** File in the repository. */
  readonly source: string;
  readonly title: string;
  /** Its first sentence. */
  readonly summary: string;
  readonly text: string;
}

/** The pages of `docs` and the READMEs of the plugins, by path on the site. */
export function pagesIn(root: string): ReadonlyMap<string, SitePage> {
  const pages = [...textsIn(root, 'docs'), ...textsIn(root, 'plugins')].flatMap((source) => {
    const path = sitePathOf(source);
    return path === undefined ? [] : [pageOf(path, readFileSync(join(root, source), 'utf8'), source)];
  });
  return new Map(pages.map((page) => [page.path, page]));
}

/** Path on the site of a file in the repository; `undefined` for files that are no pages. */
function sitePathOf(source: string): string | undefined {
  if (source.startsWith('docs/')) return source.slice('docs/'.length);
  const [, plugin] = /^plugins\/(?!shared\/)(.+)\/README\.md$/.exec(source) ?? [];
  return plugin === undefined ? undefined : `plugins/${plugin}.md`;
}

function textsIn(root: string, folder: string): readonly string[] {
  const exclude = (path: string): boolean => /(?:^|[\\/])(?:node_modules|dist)$/.test(path);
  return globSync(`${folder}/**/*.md`, { cwd: root, exclude })
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
}

/** @throws Error for a page without a title */
export function pageOf(path: string, text: string, source = `docs/${path}`): SitePage {
  const [, title] = /^# (.+)$/m.exec(text) ?? [];
  if (title === undefined) throw new Error(`${source} has no title`);
  return { path, source, title: plain(title).trim(), summary: summaryOf(text), text };
}

/** Pages of a section: the named ones first, the others by title. */
export function pagesOf(folder: string, pages: ReadonlyMap<string, SitePage>): readonly SitePage[] {
  const first = SECTIONS.find((section) => section.folder === folder)?.first ?? [];
  const inside = [...pages.values()].filter(({ path }) => path.startsWith(`${folder}/`));
  const place = ({ path }: SitePage): number => {
    const at = first.indexOf(path.slice(folder.length + 1, -'.md'.length));
    return at === -1 ? first.length : at;
  };
  return inside.sort(
    (a, b) =>
      place(a) - place(b) || posix.dirname(a.path).localeCompare(posix.dirname(b.path)) || a.path.localeCompare(b.path),
  );
}

/** The first sentence after the title. */
function summaryOf(text: string): string {
  const afterTitle = text.slice(text.indexOf('\n', text.search(/^# /m)) + 1).replace(/<!--[\s\S]*?-->/g, '');
  const paragraphs = afterTitle.split(/\n{2,}/).map((paragraph) => paragraph.trim());
  const first = paragraphs.find((paragraph) => /^[\p{L}`[*_]/u.test(paragraph)) ?? '';
  const line = plain(first).replaceAll('\n', ' ');
  return /^.*?[.!?](?= |$)/.exec(line)?.[0] ?? line;
}
