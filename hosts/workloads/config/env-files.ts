import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { explainCause } from '@toolmgr/core';
import { UsageError } from '../../shared/usage-error.ts';

/** Variables by name. */
export type Variables = Readonly<Record<string, string>>;

/**
 * Parses a file of variables: `KEY=VALUE` lines, with `export ` before them or not. Comment lines, blank lines and lines
 * without `=` are skipped. Values stay as written: no quotes, interpolation or continuation lines.
 * Source: run command, precedence and syntax of environment files.
 */
export function parseVariables(text: string): Variables {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const pairs = lines.flatMap((line): [string, string][] => {
    const found = /^(?:export\s+)?([^#=\s][^=]*?)\s*=(.*)$/.exec(line);
    return found === null ? [] : [[found[1] ?? '', (found[2] ?? '').trim()]];
  });
  return Object.fromEntries(pairs);
}

/** Variables of `--env-file`. @throws UsageError when the file cannot be read */
export async function variablesOfFile(file: string, cwd: string): Promise<Variables> {
  try {
    return parseVariables(await readFile(resolve(cwd, file), 'utf8'));
  } catch (cause) {
    throw new UsageError(`--env-file ${file} cannot be read: ${explainCause(cause)}`);
  }
}

/**
 * Variables of all regular files of a folder whose names do not start with a dot, in the order of their names. A missing
 * folder has none. A file that cannot be read is skipped with a warning.
 */
export async function variablesOfFolder(folder: string, warn: (line: string) => void): Promise<Variables> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) {
    warn(`--env-file-dir ${folder} cannot be read: no variables are taken from it`);
    return {};
  }
  const files = entries.filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name);
  let all: Variables = {};
  for (const name of files.sort()) {
    const text = await readFile(join(folder, name), 'utf8').catch(() => undefined);
    if (text === undefined) warn(`${join(folder, name)} cannot be read: its variables are skipped`);
    else all = { ...all, ...parseVariables(text) };
  }
  return all;
}
