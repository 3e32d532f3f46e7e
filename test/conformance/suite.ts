import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parse } from 'yaml';
import type { Drivers } from './drivers.ts';

/** The revisions whose requirement sets are run. */
export type Revision = '2025-11-25' | '2026-07-28';

/** The two commands of the suite. */
export type Leg = 'server' | 'client';

/** Result of one scenario. */
export interface ScenarioOutcome {
  readonly scenario: string;
  /** Checks that succeeded; informative and skipped ones are not counted. */
  readonly passed: number;
  /** `id: message` of checks that failed. */
  readonly failed: readonly string[];
  /** `id: message` of checks that are only recommended and were not met. */
  readonly warned: readonly string[];
}

/** One run of the suite's command. */
export interface SuiteRun {
  readonly code: number | null;
  readonly outcomes: readonly ScenarioOutcome[];
  /** What the command printed, for the message of a failed test. */
  readonly printed: string;
}

const ROOT = join(import.meta.dirname, '../..');
const PACKAGE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance');
const CLIENT_MS = 60_000; // a client takes a second; the suite's own limit is too short for a busy machine
const RUN_MS = 120_000; // a whole set takes a few seconds; beyond this the command is killed

/** Version of the suite that is installed. */
export function suiteVersion(): string {
  return JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')).version;
}

/** Scenarios of one leg that count towards conformance with a revision. */
export function scoredScenarios(revision: Revision, leg: Leg): readonly string[] {
  return parse(readFileSync(join(PACKAGE, 'requirements', `${revision}.yaml`), 'utf8'))[leg];
}

/** Runs a requirement set, or one scenario of it, against the server at `url`. */
export function runServer(url: string, revision: Revision, scenario?: string): Promise<SuiteRun> {
  const what = scenario === undefined ? ['--requirements', revision] : only(scenario, revision);
  return run(['server', '--url', url, ...what]);
}

/** Runs one client scenario with a client under test of `drivers.ts`; without a name all of the requirement set, beside each other. */
export function runClient(drivers: Drivers, revision: Revision, scenario?: string): Promise<SuiteRun> {
  const what = scenario === undefined ? ['--requirements', revision] : only(scenario, revision);
  const args = ['client', '--command', 'node test/conformance/ask-driver.mjs', '--timeout', String(CLIENT_MS)];
  return run([...args, ...what], { TOOLMGR_DRIVERS: drivers.url });
}

function only(scenario: string, revision: Revision): readonly string[] {
  return ['--scenario', scenario, '--spec-version', revision];
}

async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<SuiteRun> {
  const out = mkdtempSync(join(tmpdir(), 'toolmgr-suite-'));
  try {
    const child = spawn(process.execPath, [join(PACKAGE, 'dist/index.js'), ...args, '-o', out], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      // the client command is `node …`: it is to be this Node
      env: {
        ...process.env,
        ...env,
        NO_COLOR: '1',
        PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
      },
      timeout: RUN_MS,
    });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        printed += chunk;
      });
    }
    const [code] = await once(child, 'close');
    return { code, outcomes: outcomesIn(out, args[0] === 'server' ? 'server-' : ''), printed };
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

/**
 * Folders are named after leg, scenario and time: `server-ping-2026-11-20T20-16-15-801Z`, no leg for clients. A scenario may have a
 * folder in its name (`auth/basic-cimd`).
 */
function outcomesIn(out: string, prefix: string): readonly ScenarioOutcome[] {
  const files = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('checks.json'));
  return files.map(dirname).map((folder) => {
    const checks: readonly Check[] = JSON.parse(readFileSync(join(out, folder, 'checks.json'), 'utf8'));
    const told = (status: Check['status']): readonly string[] =>
      checks.filter((check) => check.status === status).map(({ id, errorMessage }) => `${id}: ${errorMessage ?? ''}`);
    return {
      scenario: folder.slice(prefix.length).replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, ''),
      passed: told('SUCCESS').length,
      failed: told('FAILURE'),
      warned: told('WARNING'),
    };
  });
}
