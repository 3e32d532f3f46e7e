import type { IncomingMessage } from 'node:http';
import { explainCause, type Gateway } from '@toolmgr/core';
import { UsageError } from '../usage-error.ts';
import type { BackendReport } from './backend-report.ts';
import type { Explanation } from './explain.ts';
import type { GatewayRecord } from './gateway-record.ts';

const { request: httpRequest } = process.getBuiltinModule('node:http');

/** What a running gateway says about itself. */
export type GatewayStatus = Omit<GatewayRecord, 'socket'> & {
  readonly backends: readonly BackendReport[];
  /** Absent from a gateway of an earlier version. */
  readonly blocked?: ReturnType<Gateway['blocked']>;
};

const ANSWER_MS = 10_000;
/** A person waits for completions. */
const COMPLETION_MS = 2_000;
/** A restart installs the program again at worst. */
const RESTART_MS = 600_000;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** A line has 4096 characters of a message and the fields of one log line. */
const MAX_LINE_CHARS = 1024 * 1024;
const TOOLS_AT_ONCE = 50;

/** State of a gateway and its backends. @throws UsageError when it does not answer */
export async function fetchStatus(record: GatewayRecord, signal?: AbortSignal): Promise<GatewayStatus> {
  return (await ask(record, 'GET', '/v1/status', ANSWER_MS, signal)) as GatewayStatus;
}

/** Restarts a backend; resolves with its state after the first attempt. @throws UsageError */
export async function restartBackend(
  record: GatewayRecord,
  backend: string,
  signal?: AbortSignal,
): Promise<BackendReport> {
  const query = new URLSearchParams({ backend });
  return (await ask(record, 'POST', `/v1/restart?${query}`, RESTART_MS, signal)) as BackendReport;
}

/** Names of the tools that clients of the gateway see, without the rules for single callers. @throws UsageError */
export async function fetchToolNames(record: GatewayRecord): Promise<readonly string[]> {
  return (await ask(record, 'GET', '/v1/tools', COMPLETION_MS)) as string[];
}

/** What the gateway knows about tools, in the same order. @throws UsageError */
export async function fetchExplanations(
  record: GatewayRecord,
  tools: readonly string[],
): Promise<readonly Explanation[]> {
  const all: Explanation[] = [];
  for (let at = 0; at < tools.length; at += TOOLS_AT_ONCE) {
    const query = new URLSearchParams(
      tools.slice(at, at + TOOLS_AT_ONCE).map((tool): [string, string] => ['tool', tool]),
    );
    all.push(...((await ask(record, 'GET', `/v1/explain?${query}`, ANSWER_MS)) as Explanation[]));
  }
  return all;
}

/** The last lines of a backend and, with `follow`, new ones until `signal` aborts. @throws UsageError */
export async function* fetchLines(
  record: GatewayRecord,
  options: { readonly backend: string; readonly lines: number; readonly follow: boolean; readonly signal: AbortSignal },
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  const { backend, lines, follow, signal } = options;
  const query = new URLSearchParams({ backend, lines: String(lines), ...(follow ? { follow: '1' } : {}) });
  const response = await open(record, 'GET', `/v1/logs?${query}`, follow ? 0 : ANSWER_MS, signal);
  if (response.statusCode !== 200) throw refusal(record, await textOf(response));
  let rest = '';
  try {
    for await (const chunk of response.setEncoding('utf8')) {
      const parts = `${rest}${chunk as string}`.split('\n');
      rest = parts.pop() ?? '';
      if (rest.length > MAX_LINE_CHARS) throw new Error('a line of its answer is too long');
      for (const part of parts) yield JSON.parse(part) as Readonly<Record<string, unknown>>;
    }
  } catch (cause) {
    if (!signal.aborted) throw stopped(record, cause);
  }
}

async function ask(
  record: GatewayRecord,
  method: string,
  path: string,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<unknown> {
  // the time of the socket is that between two pieces; this one is that of the whole answer
  const whole = AbortSignal.timeout(timeoutMs);
  const ended = signal === undefined ? whole : AbortSignal.any([signal, whole]);
  const response = await open(record, method, path, timeoutMs, ended);
  try {
    const text = await textOf(response);
    if (response.statusCode !== 200) throw refusal(record, text);
    return JSON.parse(text);
  } catch (cause) {
    throw cause instanceof UsageError ? cause : stopped(record, cause);
  }
}

function open(
  record: GatewayRecord,
  method: string,
  path: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ socketPath: record.socket, method, path, ...(signal ? { signal } : {}) }, resolve);
    request.setTimeout(timeoutMs, () => request.destroy(new Error(`no answer in ${timeoutMs / 1000} s`)));
    request.on('error', (cause) => reject(stopped(record, cause)));
    request.end();
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_ANSWER_BYTES) throw new UsageError('the answer of the gateway is too long');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function refusal({ name }: GatewayRecord, text: string): UsageError {
  let told = text;
  try {
    told = String((JSON.parse(text) as { error?: unknown }).error);
  } catch {
    // it is printed as it is
  }
  return new UsageError(`gateway ${name}: ${told}`);
}

function stopped({ name, process: { pid } }: GatewayRecord, cause: unknown): UsageError {
  return new UsageError(`gateway ${name} (pid ${pid}) does not answer: ${explainCause(cause)}`);
}
