import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createLog, type Log } from '@toolmgr/core';
import { isProblem, type Operation, type OperationContext, type ProblemCode } from '@toolmgr/plugins/kit/operations';
import { stderr } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { createRequestReader, type RawParts } from '../http/read-request.ts';
import { createJobs } from '../jobs/jobs.ts';
import { readDiscovery } from '../server-files/discovery-file.ts';
import type { AskManager } from './manager-client.ts';

/** What a command does while it waits for an operation. */
export interface Waiting {
  /** Ends the operation. */
  readonly signal?: AbortSignal;
  /** Prints a step; only of an operation in this process. */
  readonly report?: OperationContext['report'];
  /** In this process although a manager runs, e.g. because the manager has other variables of the environment. */
  readonly isHere?: boolean;
}

/** Runs an operation for a command: through the manager of the state folder when one runs, else in this process. */
export type RunOperation = (operation: Operation, given: RawParts, waiting?: Waiting) => Promise<unknown>;

/**
 * Makes the function that runs operations and resolves with the body of their success.
 * @throws UsageError with the sentence of a refusal
 */
export async function operationRunner(state: string, log: Log = quiet): Promise<RunOperation> {
  const found = await readDiscovery(state);
  // most commands run without a manager, and need no HTTP
  const ask = found && (await (await import('./manager-client.ts')).runningManager(found, state));
  return (operation, given, waiting = {}) =>
    ask === undefined || waiting.isHere === true
      ? runHere(operation, given, waiting, log)
      : runThere(ask, operation, given, waiting);
}

const quiet = createLog('error', (line) => stderr.line(line));

async function runHere(operation: Operation, given: RawParts, waiting: Waiting, log: Log): Promise<unknown> {
  const parts = createRequestReader(operation)(given);
  if ('problem' in parts) throw refusal(parts);
  const jobs = createJobs(() => {}, log);
  const { signal = new AbortController().signal, report } = waiting;
  const context: OperationContext = {
    ...{ signal, caller: 'this user', jobs, publish: () => {} },
    ...(report === undefined ? {} : { report }),
  };
  const answer = await operation.run({ ...parts, context } as never);
  if (isProblem(answer)) throw refusal(answer);
  await jobs.ended();
  return answer.stream === undefined ? answer.body : text(Readable.from(answer.stream));
}

async function runThere(
  ask: AskManager,
  { method, path, body }: Operation,
  given: RawParts,
  { signal }: Waiting,
): Promise<unknown> {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(memberOf(given.params, name))),
  );
  const query = new URLSearchParams(
    Object.entries(given.query as Record<string, string | readonly string[]>).flatMap(([name, value]) =>
      [value].flat().map((each): [string, string] => [name, String(each)]),
    ),
  ).toString();
  const answer = await ask(method, query === '' ? filled : `${filled}?${query}`, {
    body: body === undefined ? undefined : given.body,
    signal,
  });
  const isJson = /json/.test(answer.headers['content-type'] ?? '');
  const answered: unknown = answer.text === '' ? undefined : isJson ? JSON.parse(answer.text) : answer.text;
  if (answer.status < 300) return answered;
  throw refusal(answered as Refusal | undefined);
}

/** An operation refused what a command asked for. */
export class OperationRefused extends UsageError {
  readonly code: ProblemCode | undefined;

  constructor(message: string, code: ProblemCode | undefined) {
    super(message);
    this.code = code;
  }
}

interface Refusal {
  readonly detail: string;
  /** As in a body of the API, and as in a value of an operation. */
  readonly code?: ProblemCode;
  readonly problem?: ProblemCode;
  readonly errors?: readonly { readonly path: string; readonly detail: string }[];
}

function refusal(given: Refusal = { detail: 'the manager gave no usable answer' }): OperationRefused {
  const { detail, code, problem, errors = [] } = given;
  const lines = errors.map((each) => `${each.path === '' ? '' : `${each.path}: `}${each.detail}`);
  return new OperationRefused(errors.length < 2 ? detail : lines.join('\n'), code ?? problem);
}

function memberOf(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[name];
}
