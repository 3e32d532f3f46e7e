import { constants } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
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

/**
 * The same for a file that a request names. Only a regular file is read: a pipe would block, a device has no end. The error
 * does not quote the file: any file of the user could be read by it.
 * @throws UsageError naming the option, the file and what is wrong in it
 */
export async function readRequestedFile<S extends z.ZodType>(
  option: string,
  file: string,
  schema: S,
): Promise<z.output<S>> {
  const read = schema.safeParse(parsedText(option, file, await readRegularFile(option, file)));
  if (read.success) return read.data;
  const sentences = explainIssues('', schema, read.error);
  const shown = sentences.filter((sentence) => !sentence.includes('unknown key "'));
  if (shown.length < sentences.length) shown.push('it has unknown members');
  throw new UsageError(`${option} ${file}: ${shown.join('; ')}`);
}

async function readRegularFile(option: string, path: string): Promise<string> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = await file.stat();
    if (!found.isFile()) throw new Error('it is not a regular file');
    if (found.size > MAX_REQUESTED_BYTES) throw new Error(`it has more than ${MAX_REQUESTED_BYTES} bytes`);
    return await file.readFile('utf8');
  } catch (cause) {
    throw new UsageError(`${option} ${path} cannot be read: ${explainCause(cause)}`);
  }
}

const MAX_REQUESTED_BYTES = 1_048_576;

async function parsed(option: string, file: string, cwd: string): Promise<unknown> {
  return parsedText(option, file, await readText(option, file, cwd));
}

function parsedText(option: string, file: string, text: string): unknown {
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
