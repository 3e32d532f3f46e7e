import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Caller, DEFAULT_LIMITS } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import type { SessionOwner } from '../../../../core/contract/client-context.ts';
import { ByteBudget } from '../../../../core/mcp/byte-budget.ts';
import type { Session } from '../../../../core/server/era-2025-11-25/sessions/session.ts';
import { createSessions, type SessionEnd } from '../../../../core/server/era-2025-11-25/sessions/sessions.ts';
import { eventStream } from '../../../../core/server/http/http-replies.ts';
import { CLOSED_STREAM } from '../../../../core/server/http/node-adapter.ts';
import { MessageWriter } from '../../../../core/server/message-writer.ts';
import type { Heartbeat } from '../../../../core/timing/shared-timers.ts';
import { ANONYMOUS, callerNamed } from '../../../support/fake-gateway.ts';
import { proves } from '../../../support/proves.ts';

const [ADA, BOB, EVE] = ['ada', 'bob', 'eve'].map(callerNamed) as [Caller, Caller, Caller];

const HELLO = { protocolVersion: '2025-11-25', capabilities: { roots: {} }, clientInfo: { name: 'x', version: '1' } };
const HEARTBEAT: Heartbeat = {
  streams: new Set(),
  calls: { add: () => {}, delete: () => {} },
  stop: () => {},
};

function openTable(most = 10, idleMs = 60_000, perCaller = most) {
  const clock = { now: 1000 };
  const ended: { readonly id: string; readonly reason: SessionEnd }[] = [];
  const ownerOf = (session: Session): SessionOwner => ({
    key: `session:${session.id}`,
    get caller() {
      return session.caller;
    },
    capabilities: {},
    capabilityClass: '',
  });
  const sessions = createSessions({
    limits: {
      sessions: most,
      sessionsPerCaller: perCaller,
      sessionIdleMs: idleMs,
      sessionCheckMs: 2000,
      replayEvents: 10,
      replayBytes: 1000,
    },
    bytes: new ByteBudget(DEFAULT_LIMITS),
    heartbeat: HEARTBEAT,
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

const RUNNING = { cancel: () => {}, sessionEnded: () => {} };

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

  it('ends a session when another caller uses its id', () => {
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
    const first = open(table, ADA);
    open(table, BOB);
    expect(table.sessions.open(EVE, HELLO)).toBe('full');
    table.clock.now += 999;
    expect(table.sessions.use(first.id, ADA)).toBe(first);
    table.clock.now += 1;
    open(table, EVE);
    expect(table.ended.map(({ reason }) => reason)).toEqual(['expired']);
    table.clock.now += 1000;
    expect(table.sessions.mayHave(first.id)).toBe(false);
  });

  proves('choice.share.sessions', 'ends the oldest session of the caller that has its share', () => {
    expect([DEFAULT_LIMITS.sessionsPerCaller, DEFAULT_LIMITS.sessions]).toEqual([5_000, 10_000]);
    const table = openTable(10, 60_000, 3);
    const ada = open(table, ADA);
    const [oldest, used, working] = [open(table, EVE), open(table, EVE), open(table, EVE)];
    working.calls.set(1, RUNNING);
    table.clock.now += 1;
    table.sessions.use(used.id, EVE);
    const next = open(table, EVE);
    expect(table.ended).toEqual([{ id: oldest.id, reason: 'displaced' }]);
    open(table, EVE); // an unused session is closed instead of a used one
    expect(table.ended.map(({ id }) => id)).not.toContain(used.id);
    expect(table.ended.map(({ id }) => id)).toContain(next.id);
    expect(table.sessions.use(ada.id, ADA)).toBe(ada);
    expect(table.sessions.use(working.id, EVE)).toBe(working);
  });

  proves('choice.share.sessions', 'has room for every caller when one has opened all', () => {
    const table = openTable(6);
    for (let n = 0; n < 20; n++) open(table, EVE);
    expect(table.sessions.size).toBe(6);
    const others = [ADA, BOB, callerNamed('cy')].map((caller) => [open(table, caller), caller] as const);
    for (let n = 0; n < 20; n++) open(table, EVE);
    for (const [session, caller] of others) expect(table.sessions.use(session.id, caller)).toBe(session);
    expect(table.ended.every(({ reason }) => reason === 'displaced')).toBe(true);
    expect(table.sessions.size).toBe(6);
  });

  it('refuses a session rather than end a running call, and takes a connected one before', () => {
    const table = openTable(2);
    const [one, two] = [open(table, EVE), open(table, EVE)];
    for (const { calls } of [one, two]) calls.set(1, RUNNING);
    expect(table.sessions.open(ADA, HELLO)).toBe('full');
    two.calls.delete(1);
    two.standalone.attach(new MessageWriter(eventStream(CLOSED_STREAM), 1000));
    const ada = open(table, ADA);
    expect(table.ended).toEqual([{ id: two.id, reason: 'displaced' }]);
    expect(table.sessions.open(callerNamed('cy'), HELLO)).toBe('full'); // one each: no session is closed
    expect(table.sessions.use(ada.id, ADA)).toBe(ada);
  });

  proves('choice.share.key', 'tells callers without an identity apart by network', () => {
    const table = openTable(4);
    const from = (remoteAddress: string) => {
      const session = table.sessions.open(ANONYMOUS, HELLO, { remoteAddress });
      if (typeof session === 'string' || session instanceof Promise) throw new Error('no room');
      return session;
    };
    for (let n = 0; n < 10; n++) from(`2001:db8:0:1::${n}`);
    const other = from('2001:db8:0:2::1');
    const third = from('10.0.0.1');
    for (let n = 0; n < 10; n++) from(`2001:db8:0:1::${n}`);
    expect([other, third].map(({ hasEnded }) => hasEnded)).toEqual([false, false]);
    expect([other.share, third.share]).toEqual(['2001:db8:0:2::/64', '10.0.0.1']);
  });

  it('does not count a session with a running call as idle', () => {
    const table = openTable(2, 1000);
    const session = open(table);
    session.calls.set(1, RUNNING);
    table.clock.now += 5000;
    expect(table.sessions.use(session.id, ANONYMOUS)).toBe(session);
  });

  it('reports each end once', () => {
    const table = openTable();
    const session = open(table);
    const cancelled: string[] = [];
    session.calls.set(1, { ...RUNNING, sessionEnded: (reason) => void cancelled.push(reason) });
    table.sessions.close(session);
    table.sessions.close(session);
    open(table);
    table.sessions.stop();
    expect(table.ended.map(({ reason }) => reason)).toEqual(['deleted', 'shutdown']);
    expect(cancelled).toEqual(['deleted']);
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
