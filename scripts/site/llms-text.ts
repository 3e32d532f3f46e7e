import { pagesOf, type SitePage } from './pages.ts';
import { SECTIONS } from './sections.ts';

/** The list of pages for programs that read the site, one sentence each. Source: https://llmstxt.org */
export function llmsText(pages: ReadonlyMap<string, SitePage>, base: string): string {
  const home = pages.get('index.md');
  const sections = SECTIONS.map(({ folder, title }) => {
    const lines = pagesOf(folder, pages).map(
      (page) => `- [${page.title}](${base}${page.path.replace(/\.md$/, '.html')}): ${page.summary}`,
    );
    return `## ${title}\n\n${lines.join('\n')}`;
  });
  return `# toolmgr\n\n> ${home?.summary ?? ''}\n\n${sections.join('\n\n')}\n`;
}
