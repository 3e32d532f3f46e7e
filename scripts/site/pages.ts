import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { plain } from './anchors.ts';
import { SECTIONS } from './sections.ts';

/** A page of the site. */
export interface SitePage {
  /** Path below `docs`, such as `guides/run.md`. */
  readonly path: string;
  readonly title: string;
  /** Its first sentence. */
  readonly summary: string;
  readonly text: string;
}

/** Pages below a folder, by path. */
export function pagesIn(docs: string): ReadonlyMap<string, SitePage> {
  const paths = readdirSync(docs, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.md'))
    .sort();
  return new Map(paths.map((path) => [path, pageOf(path, readFileSync(join(docs, path), 'utf8'))]));
}

/** @throws Error for a page without a title */
export function pageOf(path: string, text: string): SitePage {
  const [, title] = /^# (.+)$/m.exec(text) ?? [];
  if (title === undefined) throw new Error(`docs/${path} has no title`);
  return { path, title: plain(title).trim(), summary: summaryOf(text), text };
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
