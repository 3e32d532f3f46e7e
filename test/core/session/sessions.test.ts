import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { LinkOwner } from '../../../core/contract/call.ts';
import type { Pulse } from '../../../core/protocol/pulse.ts';
import type { Session } from '../../../core/session/session.ts';
import { createSessions, type SessionEnd } from '../../../core/session/sessions.ts';
import { ANONYMOUS, callerNamed } from '../../support/fake-house.ts';

const HELLO = { protocolVersion: '2025-11-25', capabilities: { roots: {} }, clientInfo: { name: 'x', version: '1' } };
const PULSE: Pulse = { add: () => {}, delete: () => {}, stop: () => {} };

function openTable(most = 10, idleMs = 60_000) {
  const clock = { now: 1000 };
  const ended: { readonly id: string; readonly reason: SessionEnd }[] = [];
  const ownerOf = (session: Session): LinkOwner => ({
    key: `session:${session.id}`,
    get caller() {
      return session.caller;
    },
    capabilities: {},
    capabilityClass: '',
  });
  const sessions = createSessions({
    limits: { sessions: most, sessionIdleMs: idleMs, sessionCheckMs: 2000, replayEvents: 10, replayBytes: 1000 },
    pulse: PULSE,
    streams: { open: 0 },
    now: () => clock.now,
    ownerOf,
    ended: ({ id }, reason) => void ended.push({ id, reason }),
  });
  return { sessions, clock, ended };
}

const open = (table: ReturnType<typeof openTable>, caller = ANONYMOUS): Session => {
  const session = table.sessions.open(caller, HELLO);
  if (typeof session === 'string' || session instanceof Promise) throw new Error('no room');
  return session;
};

describe('the table of sessions', () => {
  it('knows a session by its id and its caller, and refreshes the token of the caller', () => {
    const table = openTable();
    const session = open(table, callerNamed('ada'));
    const renewed = { ...callerNamed('ada'), name: 'Ada' };
    expect(table.sessions.use(session.id, renewed)).toBe(session);
    expect(session.owner.caller).toBe(renewed);
    expect(table.sessions.use('other', renewed)).toBe('unknown');
    table.sessions.stop();
  });

  it('ends the session of a caller whose id somebody else uses', () => {
    for (const other of [ANONYMOUS, callerNamed('adb'), callerNamed('ad'), callerNamed('adaa')]) {
      const table = openTable();
      const session = open(table, callerNamed('ada'));
      expect(table.sessions.use(session.id, other)).toBe('unknown');
      expect(table.ended).toEqual([{ id: session.id, reason: 'stolen' }]);
      expect(table.sessions.use(session.id, callerNamed('ada'))).toBe('unknown');
    }
  });

  it('ends idle sessions when they are asked for, and makes room with them', () => {
    const table = openTable(2, 1000);
    const first = open(table);
    open(table);
    expect(table.sessions.open(ANONYMOUS, HELLO)).toBe('full');
    table.clock.now += 999;
    expect(table.sessions.use(first.id, ANONYMOUS)).toBe(first);
    table.clock.now += 1;
    open(table);
    expect(table.ended.map(({ reason }) => reason)).toEqual(['expired']);
    table.clock.now += 1000;
    expect(table.sessions.mayHave(first.id)).toBe(false);
  });

  it('does not count a session with a running call as idle', () => {
    const table = openTable(2, 1000);
    const session = open(table);
    session.calls.set(1, { cancel: () => {} });
    table.clock.now += 5000;
    expect(table.sessions.use(session.id, ANONYMOUS)).toBe(session);
  });

  it('tells of each end once', () => {
    const table = openTable();
    const session = open(table);
    const cancelled: string[] = [];
    session.calls.set(1, { cancel: (reason) => void cancelled.push(reason) });
    table.sessions.close(session);
    table.sessions.close(session);
    open(table);
    table.sessions.stop();
    expect(table.ended.map(({ reason }) => reason)).toEqual(['deleted', 'shutdown']);
    expect(cancelled).toHaveLength(1);
  });

  it('needs less than 10 KB for an idle session', () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const table = openTable(5000);
    gc();
    const before = process.memoryUsage();
    for (let n = 0; n < 5000; n++) open(table, callerNamed(`caller ${n}`));
    gc();
    const after = process.memoryUsage();
    const bytes = after.heapUsed - before.heapUsed + after.external - before.external;
    expect(bytes / 5000).toBeLessThan(10_000);
    table.sessions.stop();
  });
});
