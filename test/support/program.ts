import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withFileLock } from '../../plugins/kit/files/lock.ts';

const ROOT = join(import.meta.dirname, '../..');
const WAIT_MS = 120_000;
/** Builds that stay beside a new one: another run of tests may use them. */
const KEPT = 2;

/** Built programs of the sources of this run; outside of a run the programs are the sources. Source: vitest.config.ts. */
const { TOOLMGR_TEST_PROGRAM: folder } = process.env;
if (folder !== undefined && !existsSync(folder)) await build(folder);

/** The command line from its sources, for tests of what it loads. */
export const SOURCE_PROGRAM = join(ROOT, 'hosts/cli/main.ts');

/** The command line that tests start, with `--conditions=development`. */
export const PROGRAM = folder === undefined ? SOURCE_PROGRAM : join(folder, 'cli/main.js');

/** The proxy of a workload. */
export const PROXY_PROGRAM = join(
  folder ?? join(ROOT, 'hosts'),
  `run/proxy/proxy-main.${folder === undefined ? 'ts' : 'js'}`,
);

/** The process of `cli-session.ts`, from the sources. */
export const SOURCE_SESSION = join(import.meta.dirname, 'cli-session-process.ts');

/** The process of `cli-session.ts`. */
export const SESSION_PROGRAM = folder === undefined ? SOURCE_SESSION : join(folder, 'session.js');

/** The first test file that needs the programs builds them, others wait. */
async function build(into: string): Promise<void> {
  const cache = dirname(into);
  mkdirSync(cache, { recursive: true });
  const write = async (): Promise<void> => {
    if (existsSync(into)) return;
    const paths = readdirSync(cache).map((name) => join(cache, name));
    const newestFirst = paths.toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
    for (const path of newestFirst.slice(KEPT)) rmSync(path, { recursive: true, force: true });
    const unfinished = mkdtempSync(join(cache, '.unfinished-'));
    const { buildProgram } = await import('./build-program.ts');
    await buildProgram(unfinished, into);
    renameSync(unfinished, into);
  };
  await withFileLock(cache, write, { waitMs: WAIT_MS });
}
