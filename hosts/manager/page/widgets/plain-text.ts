/**
 * A README as plain text: HTML comments, tags of Markdown files and link targets are left out, so that it reads well. The
 * result is shown as text and never as HTML.
 */
export function plainText(markdown: string): string {
  return markdown
    .slice(0, MAX_TEXT)
    .replace(/!\[([^\]\n]{0,300})\]\([^)\n]{0,2000}\)/g, '$1')
    .replace(/\[([^\]\n]{1,300})\]\([^)\n]{0,2000}\)/g, '$1')
    .replace(/^#{1,6} +/gm, '')
    .replace(/\n{3,}/g, '\n\n');
}

const MAX_TEXT = 100_000; // characters
