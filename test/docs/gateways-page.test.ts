import { describe, expect, it } from 'vitest';
import { pageOf } from '../../scripts/docs/gateways-page.ts';
import type { Row, Turn } from '../bench/compare-table.ts';
import { toolAt } from '../bench/peers/answers.ts';

describe('the page of other gateways', () => {
  it('has calls per second and delays only when other programs had little of the measured core', () => {
    expect(pageOf(results({ disturbed: 0.02 }))).toMatch(/\| calls\/s .*\n.*\n.*\| 4321 /);
    const disturbed = pageOf(results({ disturbed: 0.5 }));
    expect(disturbed).toContain('Other programs had 50 % of the measured core');
    expect(disturbed).not.toMatch(/calls\/s|4321|p99/);
  });

  it('lists each measure in which another gateway has a smaller figure', () => {
    const page = pageOf(results({ disturbed: 0 }));
    expect(page.split('## Where another gateway needs less than toolmgr')[1]).toMatch(
      /\| other \| CPU time per call \| 1 of 1 \| 0\.40 to 0\.40 \|\n\n/,
    );
  });
});

describe('a tool of the echo backend', () => {
  it('is found by the end of its name, at the backend far', () => {
    expect(toolAt(['near_echo', 'far_echo', 'far_echoes'], 'echo')).toBe('far_echo');
    expect(toolAt(['far-tool-0', 'far-tool-1'], 'tool_1')).toBe('far-tool-1');
    expect(toolAt(['far/fail'], 'fail')).toBe('far/fail');
    expect(toolAt(['reecho'], 'echo')).toBeUndefined();
  });
});

function results({ disturbed }: { readonly disturbed: number }): Parameters<typeof pageOf>[0] {
  return {
    date: '2026-01-02T03:04:05Z',
    command: 'npm run bench',
    machine: { cpu: 'a processor', cores: 2, node: 'v24.0.0' },
    loadAverage: { before: [0.1], after: [1.2] },
    options: { seconds: 2, turns: 1 },
    targets: [],
    leftOut: [],
    rows: [row('toolmgr', { disturbed, cpuMicrosPerCall: 100 }), row('other', { disturbed, cpuMicrosPerCall: 40 })],
  };
}

function row(gateway: string, given: Partial<Turn>): Row {
  const turn: Turn = {
    calls: 10_000,
    callsPerSecond: 4321,
    p50Ms: 1,
    p95Ms: 2,
    p99Ms: 3,
    wrong: 0,
    failed: 0,
    cpuMicrosPerCall: 100,
    residentBytes: 1e8,
    disturbed: 0,
    loaderBusy: 0.5,
    backendRequestsPerCall: 1,
    backendSessionsPerCall: 0,
    ...given,
  };
  return { gateway, backends: 'one', era: '2025-11-25', connections: 1, payloadBytes: 64, turns: [turn] };
}
