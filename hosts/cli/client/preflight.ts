import { setTimeout as sleep } from 'node:timers/promises';
import { chooseEndpoint } from '../../shared/client/choose-endpoint.ts';
import { headersOf } from '../../shared/client/headers.ts';
import { connect, RpcError } from '../../shared/client/mcp-client.ts';
import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { fetchExplanations } from '../../shared/running/control-client.ts';
import type { Explanation } from '../../shared/running/explain.ts';
import type { GatewayRecord } from '../../shared/running/gateway-record.ts';
import { columns, printable, stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { type JudgedTool, judgeTool, type Verdict, verdictOf } from './judge-tools.ts';
import { PIN } from './tool-pin.ts';

/** Flags of `toolmgr tools preflight`. */
export interface PreflightFlags {
  readonly url?: string;
  readonly gateway?: string;
  readonly header: readonly string[];
  readonly tokenEnv?: string;
  readonly timeout: number;
  readonly readOnly?: boolean;
  readonly pin: readonly string[];
  /** Milliseconds to wait while the verdict is `degraded`. */
  readonly wait?: number;
  readonly format: 'text' | 'json';
}

interface Checked {
  readonly verdict: Verdict;
  readonly tools: readonly JudgedTool[];
  /** Why nothing is known. */
  readonly problem?: string;
}

const POLL_MS = 500;

/**
 * `toolmgr tools preflight`: whether the tools that a script needs exist and the caller may use them. Lists tools and calls none.
 * @throws UsageError for wrong usage; an endpoint that does not answer is the verdict `unknown`
 */
export async function preflight(given: readonly string[], flags: PreflightFlags): Promise<void> {
  const pins = pinsFrom(flags.pin);
  const names = [...new Set([...given, ...pins.keys()])];
  if (names.length === 0) throw new UsageError('name the tools that are needed, as `toolmgr tools` lists them');
  const { url, record } = await chooseEndpoint(flags);
  const headers = headersOf(flags.header, flags.tokenEnv);
  const check = () => checkOnce(names, { ...flags, url, headers, pins, record });
  const deadlineMs = performance.now() + (flags.wait ?? 0);
  let checked = await check();
  const mayHelp = (): boolean => checked.verdict === 'degraded' || checked.problem !== undefined;
  while (mayHelp() && performance.now() < deadlineMs) {
    await sleep(POLL_MS);
    checked = await check();
  }
  process.exitCode = CODES[checked.verdict];
  if (flags.format === 'json') return stdout.json({ url, ...checked });
  const { tools, verdict, problem } = checked;
  for (const line of columns(tools.map(({ name, status, reason }) => [name, status, reason].map(printable))))
    stdout.line(line);
  for (const { name, action } of tools) if (action !== '') stderr.line(printable(`${name}: ${action}`));
  if (problem !== undefined) stderr.line(`${stderr.red('toolmgr:')} ${printable(problem)}`);
  stderr.line(`verdict: ${verdict}`);
}

interface Check {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeout: number;
  readonly readOnly?: boolean;
  readonly pins: ReadonlyMap<string, string>;
  readonly record: GatewayRecord | undefined;
}

async function checkOnce(names: readonly string[], check: Check): Promise<Checked> {
  const { url, headers, timeout, readOnly = false, pins, record } = check;
  try {
    const client = await connect(url, { headers, timeoutMs: timeout });
    try {
      const listed = await client.listTools();
      const known = { listed, lacking: client.lacking(), explained: await explain(record, names), readOnly, pins };
      const tools = names.map((name) => judgeTool(name, known));
      return { verdict: verdictOf(tools), tools };
    } finally {
      await client.close();
    }
  } catch (cause) {
    if (cause instanceof UsageError) return { verdict: 'unknown', tools: [], problem: cause.message };
    if (cause instanceof RpcError)
      return { verdict: 'unknown', tools: [], problem: `${url} answers: ${cause.message} (${cause.code})` };
    throw cause;
  }
}

/** What the gateway of this machine knows; without it the list of the caller has to do. */
async function explain(
  record: GatewayRecord | undefined,
  names: readonly string[],
): Promise<ReadonlyMap<string, Explanation>> {
  if (record === undefined) return new Map();
  const told = await fetchExplanations(record, names).catch(() => []);
  return new Map(told.map((one, at) => [names[at] ?? '', one]));
}

function pinsFrom(given: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    given.map((text): [string, string] => {
      const at = text.indexOf('=');
      const pin = text.slice(at + 1);
      if (at > 0 && PIN.test(pin)) return [text.slice(0, at), pin];
      throw new UsageError(`--pin ${text}: expected NAME=sha256/v1:HASH, as tools preflight NAME --json shows it`);
    }),
  );
}

const CODES: Readonly<Record<Verdict, number>> = {
  ready: EXIT_CODES.ok.code,
  degraded: EXIT_CODES.notYet.code,
  blocked: EXIT_CODES.blocked.code,
  unknown: EXIT_CODES.unknown.code,
};
