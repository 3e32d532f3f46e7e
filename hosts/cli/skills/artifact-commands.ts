import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type JsonObject, present } from '@toolmgr/core';
import { parseImageReference } from '@toolmgr/plugins/kit/oci';
import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { stopSignal } from '../../shared/stop-signal.ts';
import { columns, stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { callSkills, printRefusal } from './command-scope.ts';

interface Format {
  readonly format: 'text' | 'json';
}

interface Validation {
  readonly valid: boolean;
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/** `toolmgr skill validate`. */
export async function validate(path: string, { format }: Format): Promise<void> {
  const read = await callSkills('validateSkill', { path: resolve(path) });
  if (read === undefined) return;
  const { valid, errors, warnings } = read.body as Validation;
  if (format === 'json') stdout.json({ valid, errors, warnings });
  else {
    for (const error of errors) stdout.line(`error: ${error}`);
    for (const warning of warnings) stdout.line(`warning: ${warning}`);
    if (valid) stdout.line('the skill is valid');
  }
  if (!valid) process.exitCode = EXIT_CODES.failed.code;
}

interface Built {
  readonly reference: string;
  readonly digest: string;
  readonly warnings: readonly string[];
}

/** `toolmgr skill build`. */
export async function build(path: string, { tag, format }: Format & { readonly tag?: string }): Promise<void> {
  const done = await callSkills('buildSkill', present({ path: resolve(path), tag }));
  if (done === undefined) return;
  const { reference, digest, warnings } = done.body as Built;
  for (const warning of warnings) stderr.line(`${stderr.yellow('warning')} ${warning}`);
  stdout.line(format === 'json' ? JSON.stringify({ reference, digest }, undefined, 2) : `${reference} ${digest}`);
}

/** Flags of a push. `sign` is false with `--no-sign`. */
export interface PushFlags extends Format {
  readonly key?: string;
  readonly identityTokenFile?: string;
  readonly sign: boolean;
}

/** `toolmgr skill push`. */
export async function push(reference: string, flags: PushFlags): Promise<void> {
  const choice = await signingChoice(flags);
  const found = await builds();
  using stop = stopSignal();
  if (found === undefined || (await callSkills('pushSkill', { reference, ...choice }, stop.signal)) === undefined)
    return;
  const { registry, repository } = parseImageReference(reference) ?? {};
  const pinned = `${registry}/${repository}@${found.find(({ tag }) => tag === reference)?.digest}`;
  const signed = flags.sign;
  if (flags.format === 'json') return stdout.json({ reference: pinned, signed });
  stdout.line(`${pinned}${signed ? ' is pushed and signed' : ' is pushed without a signature'}`);
}

/** How to sign, as members of a request. A token is read from a file or stdin: other users can see a command line. @throws UsageError */
async function signingChoice({ key, identityTokenFile: file, sign }: PushFlags): Promise<JsonObject> {
  if ([key !== undefined, file !== undefined, !sign].filter(Boolean).length !== 1)
    throw new UsageError('exactly one of --key, --identity-token-file and --no-sign is needed');
  if (key !== undefined) return { key: resolve(key) };
  if (file === undefined) return { no_sign: true };
  try {
    const text = await readFile(file === '-' ? '/dev/stdin' : file, 'utf8');
    return { identity_token: text.trim() };
  } catch (cause) {
    throw new UsageError(`--identity-token-file: ${file} cannot be read (${(cause as NodeJS.ErrnoException).code})`);
  }
}

interface Content {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly license: string;
  readonly body: string;
  readonly files: readonly { readonly path: string; readonly size: number }[];
  readonly reference: string;
  readonly digest: string;
}

/** `toolmgr skill show`. */
export async function show(reference: string, { format }: Format): Promise<void> {
  using stop = stopSignal();
  const read = await callSkills('getSkillContent', { ref: reference }, stop.signal);
  if (read === undefined) return;
  const { reference: resolved, digest, ...content } = read.body as Content;
  if (format === 'json') return stdout.json(content);
  const { name, description, version, license, body, files } = content;
  const rows = Object.entries({ name, description, version, license, reference: resolved, digest });
  for (const line of columns(rows.filter(([, value]) => value !== ''))) stdout.line(line);
  stdout.line('');
  for (const line of columns(files.map(({ path, size }) => [path, String(size)]))) stdout.line(line);
  stdout.line('');
  stdout.line(body.trimEnd());
}

interface Build {
  readonly tag: string;
  readonly name: string;
  readonly version: string;
  readonly digest: string;
}

async function builds(): Promise<readonly Build[] | undefined> {
  const found = await callSkills('listSkillBuilds');
  return found && (found.body as { readonly builds: readonly Build[] }).builds;
}

/** `toolmgr skill builds`. */
export async function listBuilds({ format }: Format): Promise<void> {
  const found = await builds();
  if (found === undefined) return;
  if (format === 'json') return stdout.json({ builds: found });
  const rows = found.map(({ tag, name, version, digest }) => [tag, name, version || '-', digest]);
  for (const line of columns([['TAG', 'NAME', 'VERSION', 'DIGEST'], ...rows])) stdout.line(line);
}

/** `toolmgr skill builds rm`. */
export async function removeBuilds(tags: readonly string[]): Promise<void> {
  const found = await builds();
  if (found === undefined) return;
  for (const tag of new Set(tags)) {
    if (!found.some((build) => build.tag === tag)) {
      printRefusal({ problem: 'not_found', detail: `there is no local build with the tag ${JSON.stringify(tag)}` });
    } else if ((await callSkills('deleteSkillBuild', { tag })) !== undefined) stdout.line(`${tag} is removed`);
  }
}
