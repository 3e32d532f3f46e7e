import type { BackendState, Gateway } from '@toolmgr/core';

/** Options of {@link reportStarts}. */
export interface StartReporting {
  /** The current gateway; a reload replaces it. */
  gateway(): StartingGateway;
  say(line: string): void;
  readonly signal: AbortSignal;
  /** Time between two lines about running starts. */
  readonly everyMs?: number;
  /** No lines about running starts: a live line shows them. */
  readonly saysOnlyEnds?: boolean;
  /** Reports when a backend that was unavailable is ready; the log of a host may do that itself. */
  readonly saysRecoveries?: boolean;
  /** The last lines of stderr of a backend that were not printed yet. */
  lastWords?(backend: string): readonly string[];
}

/** The parts of a gateway that are read. */
type StartingGateway = Pick<Gateway, 'backends' | 'catalog' | 'settled'>;

/** A start that was reported. */
interface ReportedStart {
  readonly sinceMs: number;
  atMs: number;
  /** How long it took, once it is ready. */
  tookMs?: number;
}

/**
 * Reports until `signal` aborts which programs are still starting and for how long, and then when each of them is ready or
 * why it failed. Programs that start quickly are not reported, and neither are ends before the gateway is settled: the host lists the
 * state of all backends then. A program that fails again and again is reported once.
 */
export function reportStarts(options: StartReporting): void {
  const { gateway, say, signal, everyMs = EVERY_MS, saysOnlyEnds = false, lastWords = () => [] } = options;
  const { saysRecoveries = false } = options;
  const reported = new Map<string, ReportedStart>();
  const unavailable = new Map<string, { isReady: boolean }>();
  const isListed = listedOnceSettled((listed) => {
    for (const state of listed.backends()) if (hasEnded(state)) reported.delete(state.backend.name);
  });
  const report = (): void => {
    const current = gateway();
    const states = current.backends();
    if (isListed(current)) {
      for (const state of states) {
        reportEnd(state);
        reportRecovery(state);
      }
    }
    // a program that has failed is repeated, not starting
    const starting = states.filter(({ backend: { name }, startingSinceMs, cause }) =>
      isDue(reported.get(name), startingSinceMs, unavailable.has(name) || cause !== undefined),
    );
    if (starting.length === 0) return;
    if (!saysOnlyEnds)
      say(`still starting: ${starting.map((state) => `${state.backend.name} (${secondsOf(state)} s)`).join(', ')}`);
    for (const { backend, startingSinceMs = 0 } of starting) {
      const sinceMs = reported.get(backend.name)?.sinceMs ?? startingSinceMs;
      reported.set(backend.name, { sinceMs, atMs: performance.now() });
    }
  };
  const reportEnd = (state: BackendState): void => {
    const { status, cause } = state;
    const { name } = state.backend;
    const before = reported.get(name);
    if (before === undefined || !hasEnded(state)) return;
    const isSeen = before.tookMs !== undefined;
    before.tookMs ??= Date.now() - before.sinceMs;
    // its tools are in the catalogue shortly after it is ready, so this waits for the next check
    if (status === 'ready' && !isSeen) return;
    reported.delete(name);
    const seconds = Math.round(before.tookMs / 1000);
    if (status !== 'ready') {
      say(`${name} did not start in ${seconds} s: ${cause?.message ?? status}`);
      for (const line of lastWords(name)) say(`  ${line}`);
      return;
    }
    unavailable.delete(name);
    say(`${name} is ready after ${seconds} s, ${toolsOf(name)}`);
  };
  const reportRecovery = ({ status, backend: { name } }: BackendState): void => {
    if (status === 'unknown') unavailable.delete(name); // its configuration changed
    if (status === 'unavailable') unavailable.set(name, { isReady: false });
    const before = unavailable.get(name);
    if (status !== 'ready' || before === undefined || reported.has(name)) return;
    if (before.isReady) {
      unavailable.delete(name);
      if (saysRecoveries) say(`${name} is ready, ${toolsOf(name)}`);
    }
    before.isReady = true; // as above, its tools are in the catalogue shortly after
  };
  const toolsOf = (name: string): string => {
    const tools = gateway().catalog().visible('tool');
    return countTools(tools.filter((tool) => tool.backend === name).length);
  };
  const isDue = (
    before: ReportedStart | undefined,
    startingSinceMs: number | undefined,
    hasFailed: boolean,
  ): boolean => {
    if (startingSinceMs === undefined || hasFailed) return false;
    if (before !== undefined) return performance.now() - before.atMs >= everyMs;
    return Date.now() - startingSinceMs >= FIRST_MS;
  };
  isListed(gateway());
  const watching = setInterval(report, CHECK_MS);
  watching.unref();
  signal.addEventListener('abort', () => clearInterval(watching), { once: true });
}

function hasEnded({ startingSinceMs, status, cause }: BackendState): boolean {
  return (startingSinceMs === undefined || cause !== undefined) && status !== 'unknown';
}

/** Whether a gateway is settled; calls `onSettled` once for each when it is. */
function listedOnceSettled(onSettled: (gateway: StartingGateway) => void): (gateway: StartingGateway) => boolean {
  const states = new WeakMap<StartingGateway, { isSettled: boolean }>();
  return (gateway) => {
    const known = states.get(gateway);
    if (known !== undefined) return known.isSettled;
    const state = { isSettled: false };
    states.set(gateway, state);
    const settle = (): void => {
      state.isSettled = true;
      onSettled(gateway);
    };
    gateway.settled().then(settle, settle);
    return false;
  };
}

/** How long a program has been starting, in whole seconds. */
export function secondsOf({ startingSinceMs }: Pick<BackendState, 'startingSinceMs'>): number {
  return Math.max(0, Math.floor((Date.now() - (startingSinceMs ?? Date.now())) / 1000));
}

/** `1 tool`, `2 tools`. */
export const countTools = (tools: number): string => (tools === 1 ? '1 tool' : `${tools} tools`);

const CHECK_MS = 250;
const FIRST_MS = 3_000; // most programs are ready by then
const EVERY_MS = 10_000;
