import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { JsonValue } from '@toolmgr/core';
import { type Outcome, TABLES } from './tables.ts';

const BUILD_MS = 240_000;
const RUN_MS = 60_000;
const MAX_ANSWER = 256 * 1024 * 1024;

/** Path of the Go executable; `undefined` when Go is not installed. */
export const GO = [...(process.env.PATH ?? '').split(delimiter), '/usr/local/go/bin']
  .map((folder) => join(folder, 'go'))
  .find((path) => existsSync(path));

/** Builds the Go program that fills the tables; it uses the standard library only. Returns its path. */
export function buildProgram(): string {
  const path = join(mkdtempSync(join(tmpdir(), 'go-template-')), 'golden');
  const env = { ...process.env, GOTOOLCHAIN: 'local', GOPROXY: 'off', GOFLAGS: '' };
  execFileSync(GO ?? 'go', ['build', '-o', path, '.'], { cwd: TABLES, env, timeout: BUILD_MS });
  return path;
}

/** Runs the program to rewrite copies of tables. */
export function refill(program: string, paths: readonly string[]): void {
  execFileSync(program, paths, { timeout: RUN_MS });
}

/** The output of Go for each case, in order. */
export function askGo(
  program: string,
  cases: readonly { readonly template: string; readonly data: JsonValue }[],
): readonly Outcome[] {
  const input = cases.map((one) => `${JSON.stringify(one)}\n`).join('');
  const { status, stdout, stderr } = spawnSync(program, { input, maxBuffer: MAX_ANSWER, timeout: RUN_MS });
  if (status !== 0) throw new Error(`the Go program ended with ${status}: ${stderr}`);
  return stdout
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Outcome);
}
