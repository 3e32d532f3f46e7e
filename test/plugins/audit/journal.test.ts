import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { auditConfig } from '../../../plugins/audit/config.ts';
import type { AuditEvent } from '../../../plugins/audit/event.ts';
import { createJournal, type JournalBounds } from '../../../plugins/audit/journal.ts';
import { openSink, type Sink } from '../../../plugins/audit/sinks/file.ts';
import { type AuditLine, linesOf } from '../../support/audited.ts';
import { type PluginCore, pluginCore } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';

const config = auditConfig.parse({});

function event(more: Partial<AuditEvent> = {}): AuditEvent {
  return {
    type: 'mcp_ping',
    outcome: 'success',
    loggedAtMs: 1_800_000_000_000,
    requestId: 'r',
    origin: undefined,
    caller: undefined,
    clientName: undefined,
    clientVersion: undefined,
    target: {},
    durationMs: 1,
    errorCode: undefined,
    errorMessage: undefined,
    extra: {},
    trace: undefined,
    request: undefined,
    response: undefined,
    ...more,
  };
}

/** A sink that writes to memory and calls `before` first. */
function memorySink(before: (bytes: Buffer) => Promise<number | undefined> = async () => undefined) {
  const written: Buffer[] = [];
  const sink: Sink = {
    async write(bytes) {
      const most = (await before(bytes)) ?? bytes.length;
      written.push(Buffer.from(bytes.subarray(0, most)));
      return most;
    },
    close: async () => {},
  };
  return { sink, lines: (): AuditLine[] => linesOf(Buffer.concat(written).toString()) };
}

function journalWith(bounds: Partial<JournalBounds> = {}) {
  const core: PluginCore = pluginCore();
  return { core, journal: createJournal(core, bounds) };
}

describe('the audit journal', () => {
  proves('choice.audit.overload', 'counts and reports dropped events while its sink is blocked', async () => {
    const { core, journal } = journalWith({ queueEvents: 3 });
    let release: () => void = () => {};
    const stuck = new Promise<undefined>((resolve) => {
      release = () => resolve(undefined);
    });
    const { sink, lines } = memorySink(() => stuck);
    for (let n = 0; n < 5; n++) journal.add(event());
    journal.start(sink, config);
    release();
    await journal.stop();
    expect(lines().map(({ msg }) => msg)).toEqual(['audit_event', 'audit_event', 'audit_event', 'audit_dropped']);
    expect(lines().at(-1)).toMatchObject({ dropped: 2 });
    expect(core.lines).toContainEqual(expect.objectContaining({ level: 'warn', fields: { dropped: 2 } }));
  });

  proves('choice.audit.overload', 'bounds bytes as well as events', async () => {
    const { journal } = journalWith({ queueBytes: 1_000 });
    const big = { bytes: Buffer.from(`{"a":"${'x'.repeat(390)}"}`), isCut: false };
    for (let n = 0; n < 5; n++) journal.add(event({ request: big }));
    for (let n = 0; n < 5; n++) journal.add(event());
    const { sink, lines } = memorySink();
    journal.start(sink, config);
    await journal.stop();
    expect(lines().filter(({ msg }) => msg === 'audit_event')).toHaveLength(7);
    expect(lines().at(-1)).toMatchObject({ msg: 'audit_dropped', dropped: 3 });
    // written events free space
    const next = memorySink();
    const again = journalWith({ queueBytes: 500 }).journal;
    again.start(next.sink, config);
    for (let n = 1; n <= 3; n++) {
      again.add(event({ request: big }));
      await until(() => next.lines().length === n);
    }
    await again.stop();
    expect(next.lines().every(({ msg }) => msg === 'audit_event')).toBe(true);
  });

  it('logs lost events at most once a minute under overload, and the rest at the stop', async () => {
    const { core, journal } = journalWith({ queueEvents: 1 });
    const { sink, lines } = memorySink();
    journal.start(sink, config);
    for (let round = 1; round <= 5; round++) {
      for (let n = 0; n < 3; n++) journal.add(event());
      await until(() => lines().length === round * 2);
    }
    await journal.stop();
    const told = core.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields.dropped);
    expect(told).toEqual([2, 8]);
  });

  proves('choice.audit.stop', 'writes 20,000 queued lines within the limit of a stop', async () => {
    const { core, journal } = journalWith();
    const folder = temporaryFolder('journal');
    const file = join(folder, 'audit.log');
    for (let n = 0; n < 20_000; n++) journal.add(event({ requestId: `r${n}` }));
    journal.start(await openSink(file, core), config);
    await journal.stop();
    const ids = linesOf(await readFile(file, 'utf8')).map(({ source }) => source.extra.request_id);
    expect(ids).toHaveLength(20_000);
    expect(ids[19_999]).toBe('r19999');
    expect(core.lines).toEqual([]);
  });

  it('writes events that arrive during the stop', async () => {
    const { journal } = journalWith();
    let isFirst = true;
    const { sink, lines } = memorySink(async () => {
      if (isFirst) journal.add(event({ requestId: 'late' }));
      isFirst = false;
      return undefined;
    });
    journal.start(sink, config);
    journal.add(event());
    await journal.stop();
    expect(lines().map(({ source }) => source.extra.request_id)).toEqual(['r', 'late']);
  });

  proves('choice.audit.broken-sink', 'retries a failed write without incomplete lines', async () => {
    const { core, journal } = journalWith({ retryMs: 5 });
    let turn = 0;
    // like a disk that is full during a write and has space later
    const { sink, lines } = memorySink(async () => {
      turn++;
      if (turn === 1) return 100;
      if (turn < 5) throw new Error('ENOSPC: no space left on device');
      return undefined;
    });
    journal.start(sink, config);
    for (let n = 0; n < 3; n++) journal.add(event({ requestId: `r${n}` }));
    await until(() => turn >= 5);
    await journal.stop();
    expect(lines().map(({ source }) => source.extra.request_id)).toEqual(['r0', 'r1', 'r2']);
    const errors = core.lines.filter(({ level }) => level === 'error');
    expect(errors).toHaveLength(1); // one error, not one per attempt
    expect(errors[0]?.fields).toEqual({ waiting: 3, cause: 'ENOSPC: no space left on device' });
  });

  proves(
    'choice.audit.broken-sink',
    'logs unwritten events at the stop, and does not wait longer than its limit',
    async () => {
      for (const write of [() => Promise.reject(new Error('gone')), () => new Promise<number>(() => {})]) {
        const { core, journal } = journalWith({ stopMs: 50 });
        journal.start({ write, close: () => new Promise(() => {}) }, config);
        for (let n = 0; n < 3; n++) journal.add(event());
        await journal.stop();
        expect(core.lines.at(-1)).toMatchObject({ level: 'error', fields: { lost: 3 } });
      }
    },
  );

  it('continues when one event cannot be encoded', async () => {
    const { core, journal } = journalWith();
    const { sink, lines } = memorySink();
    journal.add(event({ loggedAtMs: Number.NaN }));
    journal.add(event({ requestId: 'good' }));
    journal.start(sink, config);
    await journal.stop();
    expect(lines().map(({ msg }) => msg)).toEqual(['audit_event', 'audit_dropped']);
    expect(core.lines).toContainEqual(
      expect.objectContaining({ fields: { type: 'mcp_ping', cause: 'Invalid time value', count: 1 } }),
    );
  });
});
