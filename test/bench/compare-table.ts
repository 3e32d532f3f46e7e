import type { Checked } from './checked-load.ts';
import type { Backends } from './peers/peer.ts';

export type Era = '2025-11-25' | '2026-07-28';

/** A load. */
export interface Case {
  readonly backends: Backends;
  readonly era: Era;
  readonly connections: number;
  readonly payloadBytes: number;
}

/** One target under one load. */
export interface Row extends Case {
  readonly gateway: string;
  /** Every turn, in order. */
  readonly turns: readonly Turn[];
}

/** A turn, with what the backend got. */
export interface Turn extends Checked {
  readonly backendRequestsPerCall: number;
  readonly backendSessionsPerCall: number;
}

/** The turn with the median number of calls per second. */
export function medianTurn(turns: readonly Turn[]): Turn | undefined {
  return [...turns].sort((a, b) => a.callsPerSecond - b.callsPerSecond)[Math.floor(turns.length / 2)];
}

/** A turn with less CPU time says nothing about a call: the clock has ticks of 10 ms. */
const LEAST_MEASURED_MICROS = 200_000;

/** The least CPU time of a call in any turn: other work only adds to it. */
export function leastCpu(turns: readonly Turn[]): number | undefined {
  const all = turns.flatMap(({ cpuMicrosPerCall, calls }) =>
    cpuMicrosPerCall !== undefined && cpuMicrosPerCall * calls >= LEAST_MEASURED_MICROS ? [cpuMicrosPerCall] : [],
  );
  return all.length === 0 ? undefined : Math.min(...all);
}

const COLUMNS = [
  'gateway',
  'backends',
  'revision',
  'connections',
  'text',
  'calls/s',
  'p50 ms',
  'p95 ms',
  'p99 ms',
  'CPU µs per call',
  'resident MB',
  'requests to the backend per call',
  'wrong or failed',
] as const;

/** A Markdown table of the median turns. */
export function tableOf(rows: readonly Row[]): string {
  const lines = [COLUMNS, COLUMNS.map((_name, n) => (n < 3 ? '---' : '---:')), ...rows.map(cellsOf)];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function cellsOf({ gateway, backends, era, connections, payloadBytes, turns }: Row): readonly string[] {
  const turn = medianTurn(turns);
  if (turn === undefined) return [];
  return [
    gateway,
    backends,
    era,
    String(connections),
    `${payloadBytes} B`,
    String(Math.round(turn.callsPerSecond)),
    turn.p50Ms.toFixed(2),
    turn.p95Ms.toFixed(2),
    turn.p99Ms.toFixed(2),
    turn.cpuMicrosPerCall === undefined ? '-' : turn.cpuMicrosPerCall.toFixed(0),
    turn.residentBytes === undefined ? '-' : (turn.residentBytes / 1e6).toFixed(0),
    turn.backendRequestsPerCall.toFixed(1),
    String(turns.reduce((sum, each) => sum + each.wrong + each.failed, 0)),
  ];
}
