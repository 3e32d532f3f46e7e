// Runs every examples/*/story.ts with this Node, prints one line per story, and exits with 1 when one of them failed.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const STORY_MS = 120_000; // a story that takes longer hangs
const OUTPUT_BYTES = 65_536; // at the end of the output of a failed story
const root = join(import.meta.dirname, '..');
const folder = join(root, 'examples');
const wanted = process.argv.slice(2);

const stories = readdirSync(folder)
  .filter((name) => existsSync(join(folder, name, 'story.ts')))
  .filter((name) => wanted.length === 0 || wanted.includes(name))
  .sort();
if (stories.length === 0) {
  console.error('examples: no story has this name; stories are the folders of examples/');
  process.exit(1);
}

let failed = 0;
for (const name of stories) {
  const started = Date.now();
  const { code, output } = await run(name);
  const isGood = code === 0;
  if (!isGood) failed += 1;
  console.log(`${isGood ? 'ok' : 'FAILED'}: examples/${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  if (!isGood) console.error(output);
}
process.exit(failed === 0 ? 0 : 1);

function run(name) {
  const story = spawn(process.execPath, ['--conditions=development', join('examples', name, 'story.ts')], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: STORY_MS,
    killSignal: 'SIGKILL',
  });
  let output = '';
  const keep = (chunk) => {
    output = (output + chunk).slice(-OUTPUT_BYTES);
  };
  story.stdout.on('data', keep);
  story.stderr.on('data', keep);
  return new Promise((resolve) => {
    story.once('error', (cause) => resolve({ code: 1, output: cause.message }));
    story.once('close', (code, signal) =>
      resolve({ code, output: signal === null ? output : `${output}\nended by ${signal} after ${STORY_MS / 1000} s` }),
    );
  });
}
