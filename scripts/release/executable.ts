// `npm run executable -- [--platform NAME|all] [--out FOLDER]`: builds toolmgr as one file with its own Node.js.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packWorkspaces } from '../pack/pack-workspaces.ts';
import { missingRigs } from '../rigs/missing-rigs.ts';
import { buildExecutable } from './executable/build-executable.ts';
import { hostPlatform, PLATFORM_NAMES, readPlatforms } from './executable/platforms.ts';
import { megabytes } from './sizes.ts';
import { productVersion } from './versions.ts';

const HELP = `npm run executable -- [options]

  --platform NAME  ${PLATFORM_NAMES.join(', ')} or all; may be repeated (default: this machine's)
  --out FOLDER     where the files are written (default: dist/release)
  --unsigned       builds for macOS without codesign; macOS refuses to run the result until it is signed
  --json           prints one JSON document`;

const { values } = parseArgs({
  options: {
    platform: { type: 'string', multiple: true },
    out: { type: 'string', default: 'dist/release' },
    unsigned: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help) console.log(HELP);
else process.exitCode = await run();

async function run(): Promise<number> {
  const host = hostPlatform();
  const platforms = readPlatforms(values.platform ?? (host === undefined ? [] : [host]));
  const missing = missingRigs('release');
  if (missing !== undefined) {
    console.error(missing);
    return 1;
  }
  const scratch = mkdtempSync(join(tmpdir(), 'toolmgr-executable-'));
  try {
    const packages = await packWorkspaces(join(scratch, 'packages'));
    const version = productVersion();
    const outcomes = [];
    for (const platform of platforms) {
      const options = { packages, version, out: resolve(values.out), scratch, unsigned: values.unsigned };
      const outcome = await buildExecutable(platform, options);
      outcomes.push(outcome);
      if (values.json) continue;
      if ('skipped' in outcome) console.log(`${platform}: skipped, ${outcome.skipped}`);
      else {
        const { file, size, node, tree, note } = outcome;
        const parts = `Node ${node}, ${tree.files} files of ${megabytes(tree.unpackedSize)} as ${megabytes(tree.size)}`;
        console.log(`${file}  ${megabytes(size)} (${parts})${note === undefined ? '' : `; ${note}`}`);
      }
    }
    if (values.json) console.log(JSON.stringify(outcomes, null, 2));
    return outcomes.some((outcome) => !('skipped' in outcome)) ? 0 : 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
