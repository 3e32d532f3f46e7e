import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { explainCause, explainIssues } from '@toolmgr/core';
import { parse } from 'yaml';
import type { z } from 'zod';
import { UsageError } from '../../shared/usage-error.ts';

/**
 * Reads the JSON or YAML file of an option.
 * @throws UsageError naming the option, the file and what is wrong in it
 */
export async function readOptionFile<S extends z.ZodType>(
  option: string,
  file: string,
  cwd: string,
  schema: S,
): Promise<z.output<S>> {
  const value = await parsed(option, file, cwd);
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw new UsageError(`${option} ${file}: ${explainIssues('', schema, read.error).join('; ')}`);
}

async function parsed(option: string, file: string, cwd: string): Promise<unknown> {
  const text = await readText(option, file, cwd);
  try {
    return parse(text);
  } catch {
    throw new UsageError(`${option} ${file} is neither JSON nor YAML`);
  }
}

/** The text of a file that an option names. @throws UsageError */
export async function readText(option: string, file: string, cwd: string): Promise<string> {
  try {
    return await readFile(resolve(cwd, file), 'utf8');
  } catch (cause) {
    throw new UsageError(`${option} ${file} cannot be read: ${explainCause(cause)}`);
  }
}

/** The secret in a file, without white space around it. @throws UsageError when there is none */
export async function readSecretFile(option: string, file: string, cwd: string): Promise<string> {
  const secret = (await readText(option, file, cwd)).trim();
  if (secret === '') throw new UsageError(`${option} ${file} is empty`);
  return secret;
}
