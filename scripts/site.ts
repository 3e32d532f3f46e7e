import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { missingRigs } from './rigs/missing-rigs.ts';
import { buildSite } from './site/build-site.ts';
import { serveSite } from './site/serve-site.ts';

const USAGE = `Usage: npm run site -- [FOLDER] [--base PATH] [--serve] [--port NUMBER]

Builds the documentation site from docs/ and the READMEs of plugins into FOLDER (default: .scratch/site).
  --base PATH    path of the site at its host, such as /toolmgr/ (default: /)
  --serve        serves the built site at 127.0.0.1 until Ctrl-C
  --port NUMBER  port of --serve, 0 for any free one (default: 4484)`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    base: { type: 'string', default: '/' },
    serve: { type: 'boolean', default: false },
    port: { type: 'string', default: '4484' },
    help: { type: 'boolean', default: false },
  },
});

const missing = missingRigs('site');
if (values.help) console.log(USAGE);
else if (missing !== undefined) {
  console.error(missing);
  process.exitCode = 1;
} else await main(positionals[0] ?? join(import.meta.dirname, '../.scratch/site'));

async function main(folder: string): Promise<void> {
  if (!/^\/(?:[\w-]+\/)*$/.test(values.base)) throw new Error('--base must begin and end with /, such as /toolmgr/');
  if (values.serve && values.base !== '/') throw new Error('--serve serves the site at /; leave --base out');
  const started = performance.now();
  const built = await buildSite(folder, values.base);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`site: ${built.pages.size} pages in ${built.folder} (${seconds} s)`);
  if (!values.serve) return;
  const { url } = await serveSite(built.folder, Number(values.port));
  console.log(`site: ${url} (Ctrl-C stops it)`);
}
