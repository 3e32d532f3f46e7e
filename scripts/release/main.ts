// `npm run release -- [--dry-run]`: makes and publishes everything of a version. docs/project/releasing.md describes it.
import { parseArgs } from 'node:util';
import { confirmed } from './confirm.ts';
import { NODE_IMAGE } from './container-image.ts';
import { PLATFORM_NAMES, readPlatforms } from './executable/platforms.ts';
import { outcomeTable, withoutSecrets } from './outcome.ts';
import { PARTS, type Part, release } from './release.ts';

const HELP = `npm run release -- [options]

  --dry-run          makes everything, and publishes to a registry on this machine only
  --out FOLDER       a new or empty folder for the files (default: dist/release, which is replaced)
  --platform NAME    executables: ${PLATFORM_NAMES.join(', ')} or all; may be repeated (default: all)
  --skip NAME        leaves out ${PARTS.join(', ')}; may be repeated
  --registry URL     where a real run publishes (default: https://registry.npmjs.org/)
  --zstd LEVEL       compression of executables, 1 to 22 (default: 17; 3 takes a twentieth of the time, for trials)
  --node-image NAME  base of the image (default: ${NODE_IMAGE})
  --yes              a real run does not ask
  --json             prints one JSON document

Exit codes: 0 everything was made; 1 something failed, or a real run left out a part without --skip; 2 wrong options.`;

process.exitCode = await main();

async function main(): Promise<number> {
  let given: ReturnType<typeof read>;
  try {
    given = read();
  } catch (cause) {
    console.error(`${cause instanceof Error ? cause.message : cause}\n\n${HELP}`);
    return 2;
  }
  const { values, skip, platforms, level } = given;
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  try {
    const { 'dry-run': dryRun, json } = values;
    const { version, outcomes, files } = await release({
      ...{ dryRun, skip, platforms, out: values.out, registry: values.registry, nodeImage: values['node-image'] },
      level,
      confirm: async (question) => values.yes || confirmed(question),
      progress: (line) => console.error(withoutSecrets(line)),
    });
    const isGood = outcomes.every(({ state }) => state === 'made' || (dryRun && state === 'skipped'));
    if (json) console.log(withoutSecrets(JSON.stringify({ version, dryRun, outcomes, files }, null, 2)));
    else console.log(withoutSecrets(`${outcomeTable(outcomes)}\n\n${isGood ? 'complete' : 'NOT complete'}: ${files}`));
    return isGood ? 0 : 1;
  } catch (cause) {
    console.error(withoutSecrets(`release: ${cause instanceof Error ? cause.message : cause}`));
    return 1;
  }
}

function read() {
  const { values } = parseArgs({
    options: {
      'dry-run': { type: 'boolean', default: false },
      out: { type: 'string' },
      platform: { type: 'string', multiple: true, default: ['all'] },
      skip: { type: 'string', multiple: true, default: [] },
      registry: { type: 'string', default: 'https://registry.npmjs.org/' },
      zstd: { type: 'string', default: '17' },
      'node-image': { type: 'string', default: NODE_IMAGE },
      yes: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const skip = values.skip.flatMap((value) => value.split(','));
  const unknown = skip.find((name) => !(PARTS as readonly string[]).includes(name));
  if (unknown !== undefined) throw new Error(`--skip ${unknown}: expected ${PARTS.join(', ')}`);
  if (!URL.canParse(values.registry)) throw new Error(`--registry ${values.registry}: expected a URL`);
  if (/^-/.test(values['node-image'])) throw new Error(`--node-image ${values['node-image']}: expected an image`);
  const level = Number(values.zstd);
  if (!Number.isInteger(level) || level < 1 || level > 22) throw new Error(`--zstd ${values.zstd}: expected 1 to 22`);
  return { values, level, skip: new Set(skip as readonly Part[]), platforms: readPlatforms(values.platform) };
}
