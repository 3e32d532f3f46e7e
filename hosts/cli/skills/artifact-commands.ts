import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buildSkill, pushSkill, type SigningChoice } from '@toolmgr/plugins/skills';
import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { stopSignal } from '../../shared/stop-signal.ts';
import { columns, stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { pushSettings } from '../../shared/user-skills.ts';
import { callSkills, commandSkills, printRefusal } from './command-scope.ts';

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
  if (format === 'json') stdout.line(JSON.stringify({ valid, errors, warnings }, undefined, 2));
  else {
    for (const error of errors) stdout.line(`error: ${error}`);
    for (const warning of warnings) stdout.line(`warning: ${warning}`);
    if (valid) stdout.line('the skill is valid');
  }
  if (!valid) process.exitCode = EXIT_CODES.failed.code;
}

/** `toolmgr skill build`. */
export async function build(path: string, { tag, format }: Format & { readonly tag?: string }): Promise<void> {
  const built = await buildSkill(resolve(path), tag);
  if ('problem' in built) return printRefusal(built);
  for (const warning of built.warnings) stderr.line(`${stderr.yellow('warning')} ${warning}`);
  const { reference, digest } = built;
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
  using stop = stopSignal();
  const pushed = await pushSkill(reference, choice, { ...(await pushSettings()), signal: stop.signal });
  if ('problem' in pushed) return printRefusal(pushed);
  const { reference: pinned, isSigned } = pushed;
  if (flags.format === 'json')
    return stdout.line(JSON.stringify({ reference: pinned, signed: isSigned }, undefined, 2));
  stdout.line(`${pinned}${isSigned ? ' is pushed and signed' : ' is pushed without a signature'}`);
}

/** A token is read from a file or stdin: other users can see a command line. @throws UsageError */
async function signingChoice({ key, identityTokenFile: file, sign }: PushFlags): Promise<SigningChoice> {
  if ([key !== undefined, file !== undefined, !sign].filter(Boolean).length !== 1)
    throw new UsageError('exactly one of --key, --identity-token-file and --no-sign is needed');
  if (key !== undefined) return { kind: 'key', file: resolve(key) };
  if (file === undefined) return { kind: 'unsigned' };
  try {
    const text = await readFile(file === '-' ? '/dev/stdin' : file, 'utf8');
    return { kind: 'identity-token', token: text.trim() };
  } catch (cause) {
    throw new UsageError(`--identity-token-file: ${file} cannot be read (${(cause as NodeJS.ErrnoException).code})`);
  }
}

/** `toolmgr skill show`. */
export async function show(reference: string, { format }: Format): Promise<void> {
  using stop = stopSignal();
  const read = await commandSkills().resolve(reference, { signal: stop.signal, isNamedByUser: true });
  if ('problem' in read) return printRefusal(read);
  const { name, description, version = '', license = '', body, files } = read.artifact;
  if (format === 'json') {
    const listed = files.map(({ path, size }) => ({ path, size }));
    const content = { name, description, version, license, body, files: listed };
    return stdout.line(JSON.stringify(content, undefined, 2));
  }
  const rows = [
    ['name', name],
    ['description', description],
    ['version', version],
    ['license', license],
    ['reference', read.artifact.resolvedReference],
    ['digest', read.artifact.digest],
  ];
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

/** `toolmgr skill builds`. */
export async function listBuilds({ format }: Format): Promise<void> {
  const found = await callSkills('listSkillBuilds');
  if (found === undefined) return;
  const { builds } = found.body as { readonly builds: readonly Build[] };
  if (format === 'json') return stdout.line(JSON.stringify({ builds }, undefined, 2));
  const rows = builds.map(({ tag, name, version, digest }) => [tag, name, version || '-', digest]);
  for (const line of columns([['TAG', 'NAME', 'VERSION', 'DIGEST'], ...rows])) stdout.line(line);
}

/** `toolmgr skill builds rm`. */
export async function removeBuilds(tags: readonly string[]): Promise<void> {
  const found = await callSkills('listSkillBuilds');
  if (found === undefined) return;
  const { builds } = found.body as { readonly builds: readonly Build[] };
  for (const tag of new Set(tags)) {
    if (!builds.some((build) => build.tag === tag)) {
      printRefusal({ problem: 'not_found', detail: `there is no local build with the tag ${JSON.stringify(tag)}` });
    } else if ((await callSkills('deleteSkillBuild', { tag })) !== undefined) stdout.line(`${tag} is removed`);
  }
}
