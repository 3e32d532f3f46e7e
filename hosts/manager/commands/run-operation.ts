import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createLog, type Log } from '@toolmgr/core';
import { isProblem, type Operation } from '@toolmgr/plugins/management';
import { stderr } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { createRequestReader, type RawParts } from '../http/read-request.ts';
import { createJobs } from '../jobs/jobs.ts';
import { type AskManager, runningManager } from './manager-client.ts';

/** Runs an operation for a command: through the manager of the state folder when one runs, else in this process. */
export type RunOperation = (operation: Operation, given: RawParts) => Promise<unknown>;

/**
 * Makes the function that runs operations and resolves with the body of their success.
 * @throws UsageError with the sentence of a refusal
 */
export async function operationRunner(state: string, log: Log = quiet): Promise<RunOperation> {
  const ask = await runningManager(state);
  return (operation, given) => (ask === undefined ? runHere(operation, given, log) : runThere(ask, operation, given));
}

const quiet = createLog('error', (line) => stderr.line(line));

async function runHere(operation: Operation, given: RawParts, log: Log): Promise<unknown> {
  const parts = createRequestReader(operation)(given);
  if ('problem' in parts) throw refusal(parts);
  const jobs = createJobs(() => {}, log);
  const context = { signal: new AbortController().signal, caller: 'this user', jobs, publish: () => {} };
  const answer = await operation.run({ ...parts, context } as never);
  if (isProblem(answer)) throw refusal(answer);
  await jobs.ended();
  return answer.stream === undefined ? answer.body : text(Readable.from(answer.stream));
}

async function runThere(ask: AskManager, { method, path, body }: Operation, given: RawParts): Promise<unknown> {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(memberOf(given.params, name))),
  );
  const query = new URLSearchParams(given.query as Record<string, string>).toString();
  const answer = await ask(
    method,
    query === '' ? filled : `${filled}?${query}`,
    body === undefined ? undefined : given.body,
  );
  const isJson = /json/.test(answer.headers['content-type'] ?? '');
  const answered: unknown = answer.text === '' ? undefined : isJson ? JSON.parse(answer.text) : answer.text;
  if (answer.status < 300) return answered;
  throw refusal(answered as Refusal | undefined);
}

interface Refusal {
  readonly detail: string;
  readonly errors?: readonly { readonly path: string; readonly detail: string }[];
}

function refusal({ detail, errors = [] }: Refusal = { detail: 'the manager gave no usable answer' }): UsageError {
  if (errors.length < 2) return new UsageError(detail);
  return new UsageError(errors.map((each) => `${each.path === '' ? '' : `${each.path}: `}${each.detail}`).join('\n'));
}

function memberOf(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[name];
}
