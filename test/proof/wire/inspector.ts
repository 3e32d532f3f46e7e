import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@toolmgr/core';

const MAIN = join(import.meta.dirname, '../../../node_modules/.bin/mcp-inspector');
const RUN_MS = 30_000;

/** The Inspector's setting of the revision. */
export type InspectorEra = 'legacy' | 'auto' | 'modern';

/** Output of the Inspector's command line. */
export interface Inspected {
  readonly code: number;
  /** The printed result; `undefined` when it failed. */
  readonly result: JsonObject | undefined;
  readonly printed: string;
}

/** The transport of a URL: HTTP+SSE when its path ends in /sse. */
function transportOf(url: string): 'sse' | 'http' {
  return new URL(url).pathname.endsWith('/sse') ? 'sse' : 'http';
}

/** Runs one method with the Inspector's command line in a temporary home; aborting `signal` kills it. */
export function inspect(
  url: string,
  era: InspectorEra,
  method: string,
  more: readonly string[] = [],
  signal?: AbortSignal,
): Promise<Inspected> {
  const home = mkdtempSync(join(tmpdir(), 'proof-inspector-'));
  const args = [
    MAIN,
    '--cli',
    url,
    '--transport',
    transportOf(url),
    '--protocol-era',
    era,
    '--format',
    'json',
    '--quiet',
  ];
  const env = { ...process.env, HOME: home };
  const options = { env, timeout: RUN_MS, killSignal: 'SIGKILL' as const, ...(signal === undefined ? {} : { signal }) };
  return new Promise((resolve) => {
    execFile(process.execPath, [...args, '--method', method, ...more], options, (failed, out, err) => {
      rmSync(home, { recursive: true, force: true });
      const code = failed === null ? 0 : typeof failed.code === 'number' ? failed.code : 1;
      resolve({ code, result: code === 0 ? resultIn(out) : undefined, printed: `${out}${err}` });
    });
  });
}

function resultIn(out: string): JsonObject | undefined {
  const { result } = JSON.parse(out) as { readonly result?: JsonObject };
  return result;
}
