/** The anchor of a heading, as git hosts write it: lower case, spaces as hyphens, without punctuation. */
export function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}

/** Headings of a page in order, as text without Markdown. */
export function headingsOf(markdown: string): readonly string[] {
  return [...withoutBlocks(markdown).matchAll(/^#{1,6} +(.+?)(?: +#+)? *$/gm)].map(([, text = '']) => plain(text));
}

/** Every anchor of a page: of its headings, numbered where one is repeated, and of `id` attributes. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const found = headingsOf(markdown).map((heading) => {
    const anchor = anchorOf(heading);
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
  const written = [...withoutBlocks(markdown).matchAll(/\bid="([^"]+)"/g)].map(([, id = '']) => id);
  return new Set([...found, ...written]);
}

/** Targets of inline links and images outside of code, in order. */
export function linksOf(markdown: string): readonly string[] {
  const prose = withoutBlocks(markdown).replace(/(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
}

/** Text without the marks of code, emphasis and links. */
export function plain(markdown: string): string {
  return markdown
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/`+([^`]+)`+/g, '$1')
    .replace(/(\*\*?|(?<![\w])_|_(?![\w]))/g, '');
}

function withoutBlocks(markdown: string): string {
  return markdown.replace(/^( *)(`{3,}|~{3,})[^\n]*\n[\s\S]*?^ *\2 *$/gm, '');
}
