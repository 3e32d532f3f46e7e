import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Backend, isObject } from '@toolmgr/core';
import { atomicWrite, stateDir } from '@toolmgr/plugins/workloads/state-files';
import { terminalAsk } from '../../shared/ask.ts';
import { oneLine } from '../../shared/gateway-log/text-line.ts';
import { redactArguments, redactUrl } from '../../shared/redact-arguments.ts';
import { stderr } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { type FoundFile, shortPath } from './find-file.ts';

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
  files: readonly (FoundFile & { readonly isOfProject: boolean })[],
  backends: readonly Backend[],
  { hasTerminal, state = stateDir(), ask = terminalAsk() }: Agreement,
): Promise<void> {
  const found = files.filter(({ isOfProject }) => isOfProject);
  if (found.length === 0) return;
  const agreed = await readAgreed(state);
  const open = found.filter(({ file, text }) => agreed.get(file) !== hashOf(text));
  if (open.length === 0) return;
  const names = open.map(({ file }) => shortPath(file)).join(', ');
  if (!hasTerminal) {
    throw new UsageError(
      `${names}: found in the working folder; with --stdio it is served after you have agreed to its programs. Name it (toolmgr up ${names} --stdio), or run toolmgr up once in a terminal in ${process.cwd()}`,
    );
  }
  if (ask === undefined) return;
  stderr.line(`${names} of this folder will start or connect to:`);
  for (const backend of backends) stderr.line(`  ${oneLine(`${backend.name}  ${targetOf(backend)}`)}`);
  const answer = await ask(`Serve ${names}? [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError(`nothing was started; toolmgr up ${names} does not ask`);
  for (const { file, text } of open) {
    agreed.delete(file); // a map lists its keys in the order in which they were set
    agreed.set(file, hashOf(text));
  }
  const kept = Object.fromEntries([...agreed].slice(-MAX_FILES));
  const text = `${JSON.stringify({ version: 1, files: kept }, undefined, 2)}\n`;
  await store(state, text).catch(() => {
    stderr.line(`${stderr.yellow('note')} the answer could not be stored; it is asked again`);
  });
}

interface Agreement {
  /** A user may be at a terminal. */
  readonly hasTerminal: boolean;
  readonly state?: string;
  readonly ask?: ReturnType<typeof terminalAsk>;
}

/** SHA-256 of the content that the user agreed to, by absolute path. */
async function readAgreed(state: string): Promise<Map<string, string>> {
  const text = await readFile(pathIn(state), 'utf8').catch(() => '{}');
  try {
    const value = JSON.parse(text) as unknown;
    const files = isObject(value) && isObject(value.files) ? value.files : {};
    return new Map(Object.entries(files).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  } catch {
    return new Map();
  }
}

async function store(state: string, text: string): Promise<void> {
  await mkdir(state, { recursive: true, mode: 0o700 });
  await atomicWrite(pathIn(state), text);
}

function targetOf({ command, url = '' }: Backend): string {
  return command === undefined ? redactUrl(url) : redactArguments([command.file, ...(command.args ?? [])]).join(' ');
}

function pathIn(state: string): string {
  return join(state, 'agreed-files.json');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
