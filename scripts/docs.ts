import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { generatedPages, ROOT, stalePages } from './docs/pages.ts';

/**
 * Writes every generated page. With `--check` it writes nothing, prints the pages that differ and exits with 1.
 */
async function main(argv: readonly string[]): Promise<void> {
  const { pages, skipped } = await generatedPages();
  for (const line of skipped) console.log(`docs: ${line}`);
  const stale = stalePages(pages);
  if (argv.includes('--check')) {
    for (const path of stale) console.error(`docs: ${path} is stale, run npm run docs`);
    process.exitCode = stale.length === 0 ? 0 : 1;
    if (stale.length === 0) console.log(`docs: ${pages.size} pages are up to date`);
    return;
  }
  for (const path of stale) {
    const text = pages.get(path);
    if (text === undefined) {
      console.log(`docs: ${path} is no longer generated; delete it`);
      continue;
    }
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), text);
    console.log(`docs: wrote ${path}`);
  }
  console.log(`docs: ${pages.size} pages are up to date`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(process.argv.slice(2));
