import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Backend, isObject, parsedJson } from '@toolmgr/core';
import { atomicWrite, stateDir } from '@toolmgr/plugins/kit/files';
import type { ClientFile } from '../../client-files/client-file.ts';
import { type FoundFile, shortPath } from '../../client-files/find-file.ts';
import { type Ask, terminalAsk } from '../../shared/ask.ts';
import { oneLine } from '../../shared/gateway-log/text-line.ts';
import { redactCommand, redactUrl } from '../../shared/redact-arguments.ts';
import { stderr } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';

/** Files with an answer; the oldest answers are dropped first. */
const MAX_FILES = 500;

/**
 * A file of the working folder may come from a cloned repository. Unless the user named it, its programs start only after the user
 * has agreed to its present content: asked once on a terminal. With `--stdio` a client starts `up` in any folder and no user reads what
 * it prints, so there the answer must exist. A script without a terminal that runs `up` in a folder has chosen its file.
 *
 * @throws UsageError when the user did not agree
 */
export async function requireAgreement(
  files: readonly FileToAgree[],
  backends: readonly Backend[],
  { hasTerminal, state = stateDir(process.env), ask = terminalAsk() }: Agreement,
): Promise<void> {
  const open = await withoutAgreement(files, state);
  if (open.length === 0) return;
  const names = namesOf(open);
  if (!hasTerminal) {
    throw new UsageError(
      `${names}: found in the working folder; with --stdio it is served after you have agreed to its programs. Name it (toolmgr up ${names} --stdio), or run toolmgr up once in a terminal in ${process.cwd()}`,
    );
  }
  if (ask === undefined) return;
  stderr.line(`${names} of this folder will start or connect to:`);
  if (!(await agrees(`Serve ${names}?`, backends, ask)))
    throw new UsageError(`nothing was started; toolmgr up ${names} does not ask`);
  await storeAgreement(open, state);
}

/**
 * The same for a file that has changed while it is served: asks when it has servers that are new or different. Without a terminal the
 * change is refused, because a script did not choose content that came later.
 *
 * Shape: `served` and `next` are the servers of all files, before and after the change.
 * @throws UsageError when the user did not agree
 */
export async function requireAgreementToChange(
  file: FileToAgree,
  served: Servers,
  next: Servers,
  { hasTerminal, state = stateDir(process.env), ask = terminalAsk(), signal }: Agreement,
): Promise<void> {
  const known = new Set(served.backends.map((backend) => contentOf(backend, served)));
  const changed = next.backends.filter((backend) => !known.has(contentOf(backend, next)));
  if (changed.length === 0) return;
  const open = await withoutAgreement([{ ...file }], state); // a copy: the file may change while the question is open
  if (open.length === 0) return;
  const name = namesOf(open);
  if (!hasTerminal || ask === undefined) {
    const servers = changed.map((backend) => oneLine(backend.name)).join(', ');
    throw new UsageError(
      `${name}: new or changed servers (${servers}) need your agreement, and there is no terminal to ask. Stop this gateway and name the file (toolmgr up ${name}), or run toolmgr up once in a terminal in ${process.cwd()}`,
    );
  }
  stderr.line(`${name} of this folder has changed and will start or connect to:`);
  if (!(await agrees(`Serve the changed ${name}?`, changed, ask, signal)))
    throw new UsageError(`${name}: you did not agree to the change`);
  await storeAgreement(open, state);
}

/** A file that may need agreement. */
type FileToAgree = FoundFile & { readonly isOfProject: boolean };

type Servers = Pick<ClientFile, 'backends' | 'headers'>;

interface Agreement {
  /** A user may be at a terminal. */
  readonly hasTerminal: boolean;
  readonly state?: string;
  readonly ask?: Ask | undefined;
  /** Ends the question. */
  readonly signal?: AbortSignal;
}

async function withoutAgreement(files: readonly FileToAgree[], state: string): Promise<readonly FileToAgree[]> {
  const found = files.filter(({ isOfProject }) => isOfProject);
  if (found.length === 0) return [];
  const agreed = await readAgreed(state);
  return found.filter(({ file, text }) => agreed.get(file) !== hashOf(text));
}

async function agrees(
  question: string,
  backends: readonly Backend[],
  ask: Ask,
  signal?: AbortSignal,
): Promise<boolean> {
  for (const backend of backends) stderr.line(`  ${oneLine(`${backend.name}  ${targetOf(backend)}`)}`);
  const answer = await ask(`${question} [y/N] `, signal === undefined ? {} : { signal });
  return /^y(es)?$/i.test(answer.trim());
}

async function storeAgreement(files: readonly FileToAgree[], state: string): Promise<void> {
  const agreed = await readAgreed(state);
  for (const { file, text } of files) {
    agreed.delete(file); // a map lists its keys in the order in which they were set
    agreed.set(file, hashOf(text));
  }
  const kept = Object.fromEntries([...agreed].slice(-MAX_FILES));
  const text = `${JSON.stringify({ version: 1, files: kept }, undefined, 2)}\n`;
  await store(state, text).catch(() => {
    stderr.line(`${stderr.yellow('note')} the answer could not be stored; it is asked again`);
  });
}

function contentOf(backend: Backend, { headers }: Servers): string {
  return JSON.stringify([backend, headers.get(backend.name)]);
}

function namesOf(files: readonly FileToAgree[]): string {
  return files.map(({ file }) => shortPath(file)).join(', ');
}

/** SHA-256 of the content that the user agreed to, by absolute path. */
async function readAgreed(state: string): Promise<Map<string, string>> {
  const text = await readFile(pathIn(state), 'utf8').catch(() => '{}');
  const value = parsedJson(text);
  const files = isObject(value) && isObject(value.files) ? value.files : {};
  return new Map(Object.entries(files).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

async function store(state: string, text: string): Promise<void> {
  await mkdir(state, { recursive: true, mode: 0o700 });
  await atomicWrite(pathIn(state), text);
}

function targetOf({ command, url = '' }: Backend): string {
  return command === undefined ? redactUrl(url) : redactCommand(command.file, command.args ?? []).join(' ');
}

function pathIn(state: string): string {
  return join(state, 'agreed-files.json');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
