import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_LIMITS, encode, type JsonObject } from '@toolmgr/core';
import { describe, expect } from 'vitest';
import type { SessionOwner } from '../../../core/contract/client-context.ts';
import { networkOf, shareOf } from '../../../core/mcp/shares.ts';
import { createSessionOwners } from '../../../core/server/era-2026-07-28/session-owners.ts';
import { ANONYMOUS, callerNamed } from '../../support/fake-gateway.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { fixture, managerWith, send, stdioBackend, testOwner, textOf } from './support.ts';

/** A legacy program that notes each start and subscription. */
function program() {
  const folder = temporaryFolder('shares');
  const ledger = join(folder, 'ledger');
  const backend = stdioBackend('odd', fixture('odd-server.ts'), ['none', ledger], { era: 'legacy' });
  return { backend, notes: () => readFileSync(ledger, 'utf8').trim().split('\n') };
}

const ownerOf = (name: string, session: string): SessionOwner => ({
  ...testOwner(`session:${session}`).owner,
  caller: callerNamed(name),
});

describe('the processes of a stdio backend', () => {
  proves('choice.share.backend-sessions', 'are never all used by one caller, not even with subscriptions', async () => {
    const { processesPerBackend, processesPerCaller, linksPerBackend, linksPerCaller } = DEFAULT_LIMITS;
    expect([processesPerBackend, processesPerCaller, linksPerBackend, linksPerCaller]).toEqual([32, 16, 6000, 3000]);
    const { backend, notes } = program();
    const { manager } = await managerWith([backend], {
      limits: { processesPerBackend: 3, processesPerCaller: 2, processChurnMs: 0 },
    });
    const pid = async (owner: SessionOwner) => textOf(await send(manager, { backend: 'odd', original: 'pid', owner }));
    const eve = ['e1', 'e2', 'e3', 'e4'].map((session) => ownerOf('eve', session));
    for (const owner of eve) await manager.watch('odd', 'memo://1', owner);
    expect(notes().filter((line) => line === 'start')).toHaveLength(5); // the gateway's own, and one after the other
    expect(manager.counts().links).toBe(3);
    const ada = ownerOf('ada', 'a1');
    const first = await pid(ada);
    await manager.watch('odd', 'memo://1', eve[0] as SessionOwner);
    expect(await pid(ada)).toBe(first);
  });

  proves('choice.share.backend-sessions', 'make room for others when one caller has taken all', async () => {
    const { backend } = program();
    const { manager } = await managerWith([backend], { limits: { processesPerBackend: 3 } });
    for (const session of ['e1', 'e2', 'e3']) await manager.watch('odd', 'memo://1', ownerOf('eve', session));
    for (const name of ['ada', 'bob']) {
      const owner = ownerOf(name, name);
      expect(textOf(await send(manager, { backend: 'odd', original: 'pid', owner }))).toMatch(/^\d+$/);
    }
    const cy = send(manager, { backend: 'odd', original: 'pid', owner: ownerOf('cy', 'cy') });
    await expect(cy).rejects.toMatchObject({ code: 'BACKEND_BUSY' }); // one each: no session is closed
  });

  proves('choice.share.starts', 'are not started one after the other by a caller that has its share', async () => {
    expect(DEFAULT_LIMITS.processChurnMs).toBe(1_000);
    const { backend, notes } = program();
    let nowMs = 1_000_000;
    const limits = { processesPerCaller: 2 };
    const { manager } = await managerWith([backend], { limits, now: () => nowMs });
    const pid = (name: string, session: string) =>
      send(manager, { backend: 'odd', original: 'pid', owner: ownerOf(name, session) });
    for (const session of ['e1', 'e2', 'e3']) await pid('eve', session);
    for (let n = 4; n < 12; n++) {
      await expect(pid('eve', `e${n}`)).rejects.toMatchObject({ code: 'BACKEND_BUSY', notRun: true });
    }
    expect(notes().filter((line) => line === 'start')).toHaveLength(4);
    await pid('eve', 'e3'); // running calls continue
    await pid('ada', 'a1'); // and others start theirs
    nowMs += 1_000;
    await pid('eve', 'e4');
    expect(notes().filter((line) => line === 'start')).toHaveLength(6);
  });

  proves('choice.share.watches-return', 'watch again when the session that made room calls again', async () => {
    const { backend, notes } = program();
    const { manager } = await managerWith([backend], { limits: { processesPerBackend: 1, processChurnMs: 0 } });
    const [one, two] = [ownerOf('eve', 'e1'), ownerOf('eve', 'e2')];
    const subscriptions = () => notes().filter((line) => line.startsWith('subscribe')).length;
    await manager.watch('odd', 'memo://1', one);
    await manager.watch('odd', 'memo://2', one);
    await manager.watch('odd', 'memo://3', two);
    expect(subscriptions()).toBe(3);
    await manager.unwatch('odd', 'memo://2', one);
    await send(manager, { backend: 'odd', original: 'pid', owner: one });
    await send(manager, { backend: 'odd', original: 'pid', owner: one });
    expect(notes().filter((line) => line.startsWith('subscribe'))).toEqual([
      'subscribe memo://1',
      'subscribe memo://2',
      'subscribe memo://3',
      'subscribe memo://1',
    ]);
  });
});

describe('capabilities', () => {
  const owners = createSessionOwners(() => ({ resourceUpdated() {}, logged() {} }), undefined);
  const keyOf = (declared: JsonObject): string => owners.of(callerNamed('eve'), declared, encode(declared)).key;

  proves('choice.share.spelling', 'that say the same in other words are one owner of backend sessions', () => {
    const url = { elicitation: { form: {}, url: {} }, roots: {} };
    const same: JsonObject[] = [
      url,
      { roots: {}, elicitation: { url: {}, form: {} } },
      { ...url, experimental: { a: {} } },
      ...Array.from({ length: 12 }, (_, n) => ({
        elicitation: { form: { [`x${n}`]: n }, url: { n }, [`y${n}`]: {} },
        roots: { listChanged: false, [`z${n}`]: true },
      })),
    ];
    expect(new Set(same.map(keyOf)).size).toBe(1);
    const ui = (settings: JsonObject): JsonObject => ({ extensions: { 'io.example/ui': settings } });
    expect(keyOf(ui({ a: 1, b: [{ c: 1, d: 2 }] }))).toBe(keyOf(ui({ b: [{ d: 2, c: 1 }], a: 1 })));
    const differing = [url, { elicitation: {}, roots: {} }, { elicitation: { url: {} } }, ui({}), ui({ a: 1 }), {}];
    expect(new Set(differing.map(keyOf)).size).toBe(6);
  });
});

describe('whose share something counts against', () => {
  proves('choice.share.key', 'is told by identity, else by network', () => {
    expect(shareOf(callerNamed('ada'), '10.0.0.1')).toBe(shareOf(callerNamed('ada'), '10.0.0.2'));
    expect(shareOf(ANONYMOUS, '10.0.0.1')).not.toBe(shareOf(ANONYMOUS, '10.0.0.2'));
    expect(shareOf(ANONYMOUS, undefined)).toBe(ANONYMOUS.key);
    const networks: readonly (readonly [string, string])[] = [
      ['10.0.0.1', '10.0.0.1'],
      ['::ffff:10.0.0.1', '10.0.0.1'],
      ['2001:db8::1', '2001:db8:0:0::/64'],
      ['2001:db8:0:0:ffff::1', '2001:db8:0:0::/64'],
      ['2001:0db8:0000:0000:1:2:3:4', '2001:db8:0:0::/64'],
      ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
      ['fe80::1%eth0', 'fe80:0:0:0::/64'],
      ['::1', '0:0:0:0::/64'],
      ['1::', '1:0:0:0::/64'],
    ];
    for (const [address, network] of networks) expect([address, networkOf(address)]).toEqual([address, network]);
  });
});
