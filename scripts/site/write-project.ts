import { copyFileSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { llmsText } from './llms-text.ts';
import { pagesIn, pagesOf, type SitePage } from './pages.ts';
import { SECTIONS } from './sections.ts';

/** Where the texts are and what the site says about itself. */
export interface SiteSource {
  /** Root of the repository. */
  readonly root: string;
  /** Path of the site at its host, with slashes at both ends. */
  readonly base: string;
  /** Address of the repository, for links to files that are no pages. */
  readonly repository: string;
}

/** Writes a project of VitePress into an empty folder. The texts are copied, since the generator reads nothing outside. */
export function writeProject(folder: string, { root, base, repository }: SiteSource): ReadonlyMap<string, SitePage> {
  const docs = join(root, 'docs');
  const pages = pagesIn(root);
  const bySource = new Map([...pages.values()].map(({ source, path }) => [source, path]));
  for (const page of pages.values()) {
    mkdirSync(dirname(join(folder, page.path)), { recursive: true });
    writeFileSync(join(folder, page.path), forSite(page, repository, bySource));
  }
  if (existsSync(join(docs, 'pictures'))) cpSync(join(docs, 'pictures'), join(folder, 'pictures'), { recursive: true });
  mkdirSync(join(folder, '.vitepress/theme'), { recursive: true });
  mkdirSync(join(folder, 'public'));
  writeFileSync(join(folder, 'public/llms.txt'), llmsText(pages, base));
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  const settings = JSON.stringify({ base, repository, nav: nav(pages), sidebar: sidebar(pages) });
  writeFileSync(join(folder, '.vitepress/settings.json'), settings);
  writeFileSync(join(folder, '.vitepress/theme/index.js'), THEME);
  copyFileSync(join(import.meta.dirname, 'vitepress/theme.css'), join(folder, '.vitepress/theme/theme.css'));
  copyFileSync(join(import.meta.dirname, 'vitepress/config.ts'), join(folder, '.vitepress/config.ts'));
  copyFileSync(join(import.meta.dirname, 'anchors.ts'), join(folder, 'anchors.ts'));
  return pages;
}

/** The theme without fonts loads none. */
const THEME = "import theme from 'vitepress/theme-without-fonts';\nimport './theme.css';\nexport default theme;\n";

/**
 * The text of a page with links that work on the site: files of the repository that are no pages get their address there.
 * @param pages paths on the site by file of the repository
 */
export function forSite(
  { path, source, text }: Pick<SitePage, 'path' | 'source' | 'text'>,
  repository: string,
  pages: ReadonlyMap<string, string>,
): string {
  return outsideOfCode(text.replace(/<!--[\s\S]*?-->\n?/g, ''), (prose) =>
    prose.replace(/\]\(([^)\s#]+)(#[^)\s]*)?\)/g, (whole, target: string, anchor = '') => {
      if (/^[a-z]+:|^\//.test(target)) return whole;
      const file = posix.normalize(posix.join(posix.dirname(source), target));
      const page = ['', '/index.md', '/README.md']
        .map((end) => pages.get(`${file}${end}`))
        .find((one) => one !== undefined);
      if (page !== undefined) return `](${posix.relative(posix.dirname(path), page)}${anchor})`;
      // pictures; and pages that do not exist, so that the build fails
      if (/^docs\/.*\.(?:md|png|svg)$/.test(file)) return whole;
      return `](${repository}/blob/main/${file}${anchor})`;
    }),
  );
}

/** Changes only what is outside of fenced blocks and inline code. */
function outsideOfCode(text: string, change: (prose: string) => string): string {
  const parts = text.split(/(^ *(?:`{3,}|~{3,})[^\n]*\n[\s\S]*?^ *(?:`{3,}|~{3,}) *$|`[^`\n]+`)/gm);
  return parts.map((part, index) => (index % 2 === 1 ? part : change(part))).join('');
}

function nav(pages: ReadonlyMap<string, SitePage>): readonly object[] {
  return SECTIONS.filter(({ folder }) => folder !== 'decisions').flatMap(({ folder, title }) => {
    const [first] = pagesOf(folder, pages);
    return first === undefined ? [] : [{ text: title, link: linkTo(first), activeMatch: `^/${folder}/` }];
  });
}

function sidebar(pages: ReadonlyMap<string, SitePage>): readonly object[] {
  return SECTIONS.map(({ folder, title, isClosed }) => ({
    text: title,
    collapsed: isClosed,
    items: itemsOf(folder, pages),
  }));
}

/** Pages in a folder of their own are below the page with the name of the folder, if there is one. */
function itemsOf(folder: string, pages: ReadonlyMap<string, SitePage>): readonly object[] {
  const inside = pagesOf(folder, pages);
  const isBelow = ({ path }: SitePage): boolean => pages.has(`${posix.dirname(path)}.md`);
  return inside
    .filter((page) => !isBelow(page))
    .map((page) => {
      const own = `${page.path.slice(0, -'.md'.length)}/`;
      const below = inside.filter(({ path }) => path.startsWith(own));
      const item = { text: page.title, link: linkTo(page) };
      if (below.length === 0) return item;
      return { ...item, collapsed: true, items: below.map((one) => ({ text: one.title, link: linkTo(one) })) };
    });
}

function linkTo({ path }: SitePage): string {
  return `/${path.replace(/\.md$/, '.html')}`;
}
