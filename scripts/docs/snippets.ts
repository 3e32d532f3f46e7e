import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { ROOT } from './sources.ts';

/** Hand-written pages with code blocks from files of the repository. */
export const PAGES_WITH_SNIPPETS = [
  'docs/guides/writing-a-plugin.md',
  'docs/guides/plugin-parts.md',
  'docs/guides/kit.md',
  'docs/start/embed.md',
  'docs/operations/kubernetes-plugins.md',
  'core/README.md',
  'plugins/README.md',
] as const;

/**
 * Fills every snippet of a page from its file.
 *
 * Shape: `<!-- snippet: PATH#REGION -->`, a fenced block, `<!-- /snippet -->`; the region is in the file between
 * `// region: REGION` and `// endregion`. Without `#REGION` the whole file is taken. `file=NAME` after the language of the
 * block stays: it is the name that the reader gives the file.
 * @throws Error when a file or region does not exist
 */
export function withSnippets(text: string, read: (path: string) => string = readSource): string {
  return text.replaceAll(SNIPPET, (_whole, target: string, name = '') => {
    const [path = '', region] = target.split('#');
    const body = region === undefined ? withoutMarks(read(path)) : regionOf(read(path), path, region);
    const language = LANGUAGES[extname(path)] ?? '';
    return `<!-- snippet: ${target} -->\n\`\`\`${language}${name}\n${body}\n\`\`\`\n<!-- /snippet -->`;
  });
}

const SNIPPET = /<!-- snippet: (\S+) -->\s*(?:```\w*( file=\S+)?)?[\s\S]*?<!-- \/snippet -->/g;
const LANGUAGES: Readonly<Record<string, string>> = { '.ts': 'ts', '.yaml': 'yaml', '.json': 'json' };
const MARK = /^\s*(?:\/\/|#) (?:region: [\w-]+|endregion)\s*$/;

function regionOf(text: string, path: string, region: string): string {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => new RegExp(`^\\s*(?://|#) region: ${region}\\s*$`).test(line));
  if (first === -1) throw new Error(`${path} has no region named ${region}`);
  const length = lines.slice(first + 1).findIndex((line) => /^\s*(?:\/\/|#) endregion\s*$/.test(line));
  if (length === -1) throw new Error(`region ${region} of ${path} has no end`);
  return dedented(lines.slice(first + 1, first + 1 + length));
}

function withoutMarks(text: string): string {
  return dedented(text.split('\n').filter((line) => !MARK.test(line)));
}

function dedented(lines: readonly string[]): string {
  const depths = lines.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length);
  const depth = Math.min(...depths);
  return lines
    .map((line) => line.slice(depth))
    .join('\n')
    .trim();
}

function readSource(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
