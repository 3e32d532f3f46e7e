import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One run of schemathesis. */
export interface FuzzRun {
  /** Number of requests. */
  readonly cases: number;
  /** Operations that were tested. */
  readonly operations: number;
  /** The report of each failure, with a command that repeats it. */
  readonly failures: readonly string[];
  /** What it printed. */
  readonly output: string;
}

/** What is tested. */
export interface FuzzOptions {
  readonly url: string;
  readonly token: string;
  /** Generated requests for each operation. */
  readonly examples: number;
  readonly seed: number;
  readonly phases: readonly ('examples' | 'coverage' | 'fuzzing' | 'stateful')[];
  /** Time limit of the whole run in milliseconds. */
  readonly ms: number;
}

/**
 * Tests an API against the document at `/api/openapi.json`.
 *
 * Left out: methods that the document does not have (a test of ours), and the acceptance of every request that fits the schema,
 * because some rules are between members, or depend on the state. Event streams have no end.
 */
export async function fuzz(folder: string, { url, token, examples, seed, phases, ms }: FuzzOptions): Promise<FuzzRun> {
  const scratch = await mkdtemp(join(tmpdir(), 'toolmgr-schemathesis-'));
  const report = join(scratch, 'report.xml');
  const args = [
    ...['-m', 'schemathesis.cli', '--config-file', join(import.meta.dirname, 'schemathesis.toml')],
    ...['run', `${url}/api/openapi.json`, '--header', `Authorization: Bearer ${token}`],
    ...['--max-examples', String(examples), '--seed', String(seed), '--phases', phases.join(',')],
    ...['--exclude-checks', 'unsupported_method,positive_data_acceptance', '--exclude-path-regex', '/(events|stream)$'],
    ...['--request-timeout', '20', '--workers', '2', '--no-color', '--continue-on-failure', '--max-failures', '50'],
    ...['--report-junit-path', report, '--generation-database', 'none'],
  ];
  try {
    const output = await run(join(folder, 'venv', 'bin', 'python'), args, scratch, ms);
    const cases = Number(/(\d+) generated/.exec(output)?.[1] ?? 0);
    const operations = Number(/Tested: (\d+)/.exec(output)?.[1] ?? 0);
    return { cases, operations, failures: failuresIn(await readFile(report, 'utf8')), output };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Name of the operation, and the texts of its failed checks. */
function failuresIn(xml: string): string[] {
  return [...xml.matchAll(/<testcase name="([^"]*)"[^>]*[^/]>(.*?)<\/testcase>/gs)].flatMap(
    ([, name = '', inner = '']) =>
      [...inner.matchAll(/<(?:failure|error)[^>]*>(.*?)<\/(?:failure|error)>/gs)].map(
        ([, text = '']) => `${name}: ${text.replaceAll('&quot;', '"').replaceAll('&amp;', '&').slice(0, SHOWN)}`,
      ),
  );
}

const SHOWN = 1_500; // characters of a failure

/** Failed checks end it with 1; the report has them. */
function run(file: string, args: readonly string[], cwd: string, ms: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, PYTHONUNBUFFERED: '1' };
    execFile(file, args, { cwd, env, timeout: ms, maxBuffer: 64 * 1024 * 1024 }, (failed, out, err) => {
      if (failed === null || failed.code === 1) resolve(out);
      else
        reject(new Error(`schemathesis ended with ${failed.code ?? failed.signal}\n${`${out}${err}`.slice(-4_000)}`));
    });
  });
}
