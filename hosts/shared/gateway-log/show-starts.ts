import type { BackendState, Gateway } from '@toolmgr/core';
import { reportStarts, secondsOf } from '../report-starts.ts';
import { stderr } from '../terminal.ts';
import type { GatewayLog } from './index.ts';
import type { LiveRegion } from './live-region.ts';
import type { StartRow } from './start-frame.ts';

/** The parts of a gateway that are shown. */
type Shown = Pick<Gateway, 'backends' | 'catalog' | 'settled'>;

/** Options of {@link showStarts}. */
export interface StartsOptions {
  /** The current gateway; a reload replaces it. */
  gateway(): Shown;
  readonly gatewayLog: Pick<GatewayLog, 'format' | 'lastWords'>;
  /** Prints one line. */
  say(line: string): void;
  /** Whether `say` also gets a line when a backend that was unavailable is ready. */
  readonly saysRecoveries?: boolean;
  readonly signal: AbortSignal;
}

/**
 * Shows until `signal` aborts which programs are starting and for how long, and when slow ones are ready or why they failed.
 * On a terminal with lines for people there is a live line per backend until all have answered; elsewhere there are plain lines.
 */
export function showStarts({ gateway, gatewayLog, say, saysRecoveries = false, signal }: StartsOptions): void {
  const hasLiveLines = isLive(gatewayLog);
  const { lastWords } = gatewayLog;
  reportStarts({ gateway, say, signal, lastWords, saysOnlyEnds: hasLiveLines, saysRecoveries });
  if (hasLiveLines) void showLive(startRows(gateway), signal);
}

/** Whether this log is for people, and stderr is a terminal whose lines may be replaced. */
export function isLive({ format }: Pick<GatewayLog, 'format'>): boolean {
  return format === 'text' && isLiveTerminal(process.stderr, process.env);
}

/** The row of one program that starts now. */
export function startRow(name: string): () => readonly StartRow[] {
  const startingSinceMs = Date.now();
  return () => [{ name, state: 'starting', seconds: secondsOf({ startingSinceMs }) }];
}

/** Whether lines may be replaced: on a terminal that can, and not in CI, where each frame would be a line of its log. */
export function isLiveTerminal(stream: { readonly isTTY?: boolean }, { TERM, CI = '' }: NodeJS.ProcessEnv): boolean {
  const isCi = CI !== '' && CI !== '0' && CI !== 'false';
  return stream.isTTY === true && TERM !== 'dumb' && !isCi;
}

/** Shows live lines on stderr until `signal` aborts; none while `rows` returns none. */
export async function showLive(rows: () => readonly StartRow[], signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const [{ openLiveRegion }, { startFrame }] = await Promise.all([
    import('./live-region.ts'),
    import('./start-frame.ts'),
  ]);
  const stream = process.stderr;
  const region: LiveRegion = openLiveRegion(stream, [process.stdout]);
  const hasUnicode = showsUnicode(process.env);
  let tick = 0;
  let next: NodeJS.Timeout | undefined;
  const show = (): void => {
    const shown = rows();
    const size = { width: stream.columns || DEFAULT_COLUMNS, height: stream.rows || DEFAULT_ROWS };
    region.show(shown.length === 0 ? [] : startFrame(shown, { ...size, tick: tick++, style: stderr, hasUnicode }));
    next = setTimeout(show, shown.length === 0 ? IDLE_MS : FRAME_MS).unref();
  };
  const end = (): void => {
    clearTimeout(next);
    region.close();
  };
  if (signal.aborted) return;
  signal.addEventListener('abort', end, { once: true });
  next = setTimeout(show, FRAME_MS).unref();
}

/** All backends until the gateway is settled, because the host lists them then; after that those that are still starting. */
function startRows(gateway: () => Shown): () => readonly StartRow[] {
  const settled = new WeakSet<Shown>();
  const known = new WeakSet<Shown>();
  return () => {
    const current = gateway();
    if (!known.has(current)) {
      known.add(current);
      const isSettled = (): void => void settled.add(current);
      current.settled().then(isSettled, isSettled);
    }
    const states = current.backends();
    if (settled.has(current)) return states.filter(isStarting).map((state) => rowOf(state, 'starting'));
    const tools = toolCounts(current);
    return states.map((state) => {
      if (state.status === 'ready' || state.needsCaller) return rowOf(state, 'ready', tools?.get(state.backend.name));
      return rowOf(state, state.cause === undefined ? 'starting' : 'failed');
    });
  };
}

function rowOf(state: BackendState, kind: StartRow['state'], tools?: number): StartRow {
  const { backend, cause, sinceMs } = state;
  const seconds = secondsOf({ startingSinceMs: state.startingSinceMs ?? sinceMs });
  return { name: backend.name, state: kind, seconds, tools, cause: cause?.message };
}

function isStarting({ startingSinceMs, cause }: BackendState): boolean {
  return startingSinceMs !== undefined && cause === undefined;
}

/** Without a catalogue, e.g. because names collide, nothing is counted; the log has the reason. */
function toolCounts(gateway: Shown): ReadonlyMap<string, number> | undefined {
  const counts = new Map<string, number>();
  try {
    for (const { backend } of gateway.catalog().visible('tool')) counts.set(backend, (counts.get(backend) ?? 0) + 1);
  } catch {
    return undefined;
  }
  return counts;
}

/** The console of Linux and old consoles of Windows have no spinner characters. */
function showsUnicode({ TERM, WT_SESSION, TERM_PROGRAM }: NodeJS.ProcessEnv): boolean {
  if (process.platform === 'win32') return WT_SESSION !== undefined || TERM_PROGRAM !== undefined;
  return TERM !== 'linux';
}

const FRAME_MS = 100;
const IDLE_MS = 250;
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;
