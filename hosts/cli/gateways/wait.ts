import { setTimeout as sleep } from 'node:timers/promises';
import { nearest } from '@toolmgr/core';
import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { ownCommand } from '../../shared/own-command.ts';
import type { BackendReport } from '../../shared/running/backend-report.ts';
import { chooseGateway, NoGateway } from '../../shared/running/choose-gateway.ts';
import { fetchStatus, type GatewayStatus } from '../../shared/running/control-client.ts';
import { stopSignal } from '../../shared/stop-signal.ts';
import { columns, printable, stderr, stdout } from '../../shared/terminal.ts';
import { Interrupted, UsageError } from '../../shared/usage-error.ts';

/** Flags of `toolmgr wait`. */
export interface WaitFlags {
  readonly timeout: number;
  readonly all?: boolean;
  readonly gateway?: string;
  readonly format: 'text' | 'json';
}

/** What `toolmgr wait` found. */
type Verdict = 'ready' | 'timed-out' | 'failed' | 'no-gateway';

const POLL_MS = 200;

/**
 * `toolmgr wait`: until all backends of a gateway, or the named ones, are ready. A gateway that has not started yet is waited for.
 * Ends at once when a backend failed and another attempt would not help.
 * @throws UsageError for an unknown backend, or when several gateways run
 */
export async function wait(names: readonly string[], flags: WaitFlags): Promise<void> {
  if (flags.all && names.length > 0) throw new UsageError('give names of backends or --all, not both');
  using stop = stopSignal();
  const deadlineMs = performance.now() + flags.timeout;
  let gateway: GatewayStatus | undefined;
  let waited: readonly BackendReport[] = [];
  let verdict: Verdict | undefined;
  for (;;) {
    gateway = await askNow(flags.gateway);
    if (gateway !== undefined) {
      waited = chosen(gateway.backends, names);
      verdict = verdictOf(waited);
    }
    if (verdict !== undefined || performance.now() >= deadlineMs) break;
    await sleep(Math.min(POLL_MS, Math.max(1, deadlineMs - performance.now())), undefined, {
      signal: stop.signal,
    }).catch(() => {
      throw new Interrupted('stopped before the backends were ready');
    });
  }
  report(verdict ?? (gateway === undefined ? 'no-gateway' : 'timed-out'), gateway, waited, flags);
}

/** The gateway as it is now; `undefined` while none runs or it is just ending. */
async function askNow(which: string | undefined): Promise<GatewayStatus | undefined> {
  try {
    const record = await chooseGateway(which);
    return await fetchStatus(record).catch(() => undefined);
  } catch (cause) {
    if (cause instanceof NoGateway) return undefined;
    throw cause;
  }
}

function chosen(backends: readonly BackendReport[], names: readonly string[]): readonly BackendReport[] {
  if (names.length === 0) return backends;
  const known = backends.map(({ name }) => name);
  const missing = names.find((name) => !known.includes(name));
  if (missing === undefined) return backends.filter(({ name }) => names.includes(name));
  const hint = nearest(missing, known);
  throw new UsageError(
    `the gateway has no backend ${missing}${hint === undefined ? ` (known: ${known.join(', ') || 'none'})` : `, did you mean ${hint}?`}`,
  );
}

/** `undefined` while waiting may help. */
function verdictOf(backends: readonly BackendReport[]): Verdict | undefined {
  if (backends.some(({ state }) => state === 'failed')) return 'failed';
  return backends.every(({ state }) => state === 'ready' || state === 'per-caller') ? 'ready' : undefined;
}

function report(
  verdict: Verdict,
  gateway: GatewayStatus | undefined,
  backends: readonly BackendReport[],
  { format, timeout }: WaitFlags,
): void {
  process.exitCode = CODES[verdict];
  if (format === 'json') {
    const { name, url } = gateway ?? {};
    return stdout.json({ verdict, gateway: gateway && { name, url }, backends });
  }
  const rows = backends.map(({ name, state, tools, error }) => [
    name,
    state,
    printable(error?.message ?? (tools === null ? '' : `${tools} tools`)),
  ]);
  for (const line of columns(rows)) stdout.line(line);
  for (const { name, error } of backends) if (error !== undefined) stderr.line(printable(`${name}: ${error.fix}`));
  if (verdict === 'timed-out')
    stderr.line(`not all backends are ready after ${timeout / 1000} s; they are tried again`);
  if (verdict === 'no-gateway')
    stderr.line(`no gateway runs; start one: ${ownCommand('up')}, or ${ownCommand('vmcp serve -c FILE')}`);
}

const CODES: Readonly<Record<Verdict, number>> = {
  ready: EXIT_CODES.ok.code,
  'timed-out': EXIT_CODES.notYet.code,
  failed: EXIT_CODES.blocked.code,
  'no-gateway': EXIT_CODES.unknown.code,
};
