import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallRecord } from '../../../core/contract/call.ts';
import type { JsonObject } from '../../../core/contract/json.ts';
import { Cancel } from '../../../core/protocol/cancel.ts';
import { RawObject } from '../../../core/protocol/raw-json.ts';
import { auditConfig } from '../../../plugins/audit/config.ts';
import audit from '../../../plugins/audit/index.ts';
import { createJournal } from '../../../plugins/audit/journal.ts';
import { createSnapshot } from '../../../plugins/audit/snapshot.ts';
import { bootPlugin, pluginCore } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';

const settled = (changes: Partial<CallRecord> = {}, call: Partial<CallRecord['call']> = {}): CallRecord => ({
  call: {
    id: 'call-1',
    method: 'tools/call',
    name: 'github_search',
    target: {
      kind: 'tool',
      key: 'github_search',
      workload: 'github',
      original: 'search',
      definition: Buffer.from('{}'),
      shapedBy: [],
    },
    params: Buffer.from('{"name":"github_search","arguments":{"password":"hunter2"}}'),
    members: RawObject.parse(Buffer.from('{"name":"github_search"}')),
    arguments: { password: 'hunter2' },
    meta: undefined,
    caller: { issuer: 'https://id', subject: 'u1', key: 'https://id\0u1', claims: { email: 'ada@example.com' } },
    asker: {
      era: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'inspector', version: '1.0' },
      owner: {
        key: 'session:1',
        caller: { issuer: '', subject: '', key: '', claims: {} },
        capabilities: {},
        capabilityClass: '',
      },
      progressToken: undefined,
      logLevel: undefined,
      tell: () => {},
    },
    headers: {},
    round: 1,
    signal: new AbortController().signal,
    cancel: new Cancel(),
    ...call,
  },
  outcome: 'ok',
  startedMs: 1_800_000_000_000,
  durationMs: 12.3456,
  rounds: 1,
  resultBytes: 345,
  ...changes,
});

describe('audit', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'toolmgr-audit-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const linesOf = async (file: string): Promise<JsonObject[]> =>
    (await readFile(file, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject);

  /** Boots the plugin on a file, settles the records, stops it, and gives the lines back. */
  const linesAfter = async (records: CallRecord[], config: object = {}): Promise<JsonObject[]> => {
    const logFile = join(folder, 'audit.log');
    const core = await bootPlugin(audit, { ...config, logFile });
    for (const record of records) core.hooks.callSettled.call(record);
    await core.hooks.stopping.promise();
    return linesOf(logFile);
  };

  proves(['ask.plugin.audit', 'vmcp.audit.log-file'], 'writes one JSON line per call to its file', async () => {
    const lines = await linesAfter([settled()], { component: 'dev' });
    expect(lines).toEqual([
      {
        time: '2027-01-15T08:00:00.012Z',
        level: 'AUDIT',
        msg: 'audit_event',
        audit_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        type: 'mcp_tool_call',
        logged_at: '2027-01-15T08:00:00.012Z',
        outcome: 'success',
        component: 'dev',
        source: { type: 'network', extra: { request_id: 'call-1' } },
        subjects: { user: 'ada@example.com', user_id: 'u1', client_name: 'inspector', client_version: '1.0' },
        target: { endpoint: '/mcp', method: 'tools/call', name: 'github_search', type: 'tool' },
        metadata: { extra: { duration_ms: 12.346, response_size_bytes: 345, backend_name: 'github' } },
      },
    ]);
  });

  it('makes its file readable for its owner only and appends to what is there', async () => {
    await linesAfter([settled()]);
    expect((await stat(join(folder, 'audit.log'))).mode & 0o777).toBe(0o600);
    expect(await linesAfter([settled(), settled()])).toHaveLength(3);
  });

  it('stops the boot and names the file when it cannot be opened', async () => {
    const logFile = join(folder, 'no', 'such', 'folder.log');
    await expect(bootPlugin(audit, { logFile })).rejects.toThrow(/audit\.logFile: .*folder\.log cannot be opened/);
  });

  it.each([
    ['ok', {}, 'success', {}],
    ['toolError', {}, 'success', { tool_error: true }],
    ['refused', { refusal: { refused: true, status: 403, reason: 'no' } }, 'denied', {}],
    ['refused', { refusal: { refused: true, status: 429, reason: 'slow' } }, 'failure', {}],
    [
      'error',
      { error: { code: -32602, message: 'x'.repeat(300) } },
      'application_error',
      { jsonrpc_error_code: -32602 },
    ],
    ['fault', {}, 'error', {}],
    ['cancelled', {}, 'failure', {}],
    ['abandoned', {}, 'failure', {}],
  ] as const)('says how a call ended: %s %j is %s', async (outcome, changes, said, extra) => {
    const [line] = await linesAfter([settled({ outcome, ...changes } as Partial<CallRecord>)]);
    expect(line).toMatchObject({ outcome: said, metadata: { extra } });
    const message = (line?.metadata as JsonObject | undefined)?.extra as JsonObject | undefined;
    expect(String(message?.jsonrpc_error_message ?? '').length).toBeLessThanOrEqual(256);
  });

  it('writes no arguments', async () => {
    await linesAfter([settled()]);
    expect(await readFile(join(folder, 'audit.log'), 'utf8')).not.toContain('hunter2');
  });

  it('names the call that made an inner call', async () => {
    const parent = settled({}, { id: 'outer' }).call;
    const [line] = await linesAfter([settled({}, { id: 'inner', parent })]);
    expect(line).toMatchObject({
      source: { type: 'local', extra: { request_id: 'inner' } },
      metadata: { extra: { parent_request_id: 'outer' } },
    });
  });

  it('lists the actors outermost first, cut at the configured depth', async () => {
    const caller = {
      ...settled().call.caller,
      claims: { act: { iss: 'i', sub: 'a', act: { iss: 'i', sub: 'b', act: { sub: 'c' } } } },
    };
    const record = settled({}, { caller });
    const [whole] = await linesAfter([record]);
    expect(whole?.delegation).toEqual({ chain: [{ iss: 'i', sub: 'a' }, { iss: 'i', sub: 'b' }, { sub: 'c' }] });
    const cut = (await linesAfter([record], { maxDelegationDepth: 1 })).at(-1);
    expect(cut?.delegation).toEqual({ chain: [{ iss: 'i', sub: 'a' }], truncated: true, omitted: 2 });
  });

  it('says why an act claim is malformed', async () => {
    const caller = { ...settled().call.caller, claims: { act: { sub: 'a', act: 'b' } } };
    const [line] = await linesAfter([settled({}, { caller })]);
    expect(line?.delegation).toEqual({
      chain: [{ sub: 'a' }],
      malformed: true,
      malformedReason: 'nested act is not an object',
    });
  });

  it('keeps to the wanted types, the unwanted ones winning', async () => {
    const records = [settled(), settled({}, { method: 'prompts/get' }), settled({}, { method: 'resources/read' })];
    const config = { eventTypes: ['mcp_tool_call', 'mcp_prompt_get'], excludeEventTypes: ['mcp_prompt_get'] };
    expect((await linesAfter(records, config)).map((line) => line.type)).toEqual(['mcp_tool_call']);
  });

  it.each([
    [{ includeRequestData: true }, /includeRequestData is not available yet/],
    [{ includeResponseData: true }, /includeResponseData is not available yet/],
    [{ eventTypes: ['mcp_ping'] }, /mcp_ping is not recorded yet/],
    [{ eventTypes: ['mcp_tool_calls'] }, /expected one of/],
    [{ maxDelegationDepth: 0 }, />=1/],
  ])('refuses what does not work yet by its name: %j', (config, sentence) => {
    const read = auditConfig.safeParse(config);
    expect(read.error?.issues.map((issue) => issue.message).join()).toMatch(sentence);
  });

  it('drops and counts events when the sink is stuck, and tells it when the sink works again', async () => {
    const core = pluginCore();
    const journal = createJournal(core, 3);
    const written: string[] = [];
    let release: () => void = () => {};
    const stuck = new Promise<void>((resolve) => {
      release = resolve;
    });
    const config = auditConfig.parse({});
    const event = createSnapshot(config)(settled());
    if (event === undefined) throw new Error('the event is wanted');
    const sink = {
      write: async (text: string) => {
        await stuck;
        written.push(text);
      },
      close: async () => {},
    };
    for (let n = 0; n < 5; n++) journal.add(event);
    journal.start(sink, config);
    release();
    await journal.stop();
    const lines = written
      .join('')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject);
    expect(lines.map((line) => line.msg)).toEqual(['audit_event', 'audit_event', 'audit_event', 'audit_dropped']);
    expect(lines.at(-1)?.dropped).toBe(2);
    expect(core.lines).toContainEqual(expect.objectContaining({ level: 'warn', fields: { dropped: 2 } }));
  });

  it('goes on after a write that failed', async () => {
    const core = pluginCore();
    const journal = createJournal(core);
    const config = auditConfig.parse({});
    const event = createSnapshot(config)(settled());
    if (event === undefined) throw new Error('the event is wanted');
    journal.start({ write: () => Promise.reject(new Error('disk full')), close: async () => {} }, config);
    journal.add(event);
    await journal.stop();
    expect(core.lines).toContainEqual(
      expect.objectContaining({ level: 'error', fields: { lines: 1, cause: 'disk full' } }),
    );
  });

  it('costs the call only a snapshot', async () => {
    const core = pluginCore();
    const journal = createJournal(core, 1_000_000);
    const snapshot = createSnapshot(auditConfig.parse({}));
    const record = settled();
    const rounds = 100_000;
    const startedAt = process.hrtime.bigint();
    for (let n = 0; n < rounds; n++) {
      const event = snapshot(record);
      if (event !== undefined) journal.add(event);
    }
    const microseconds = Number(process.hrtime.bigint() - startedAt) / 1000 / rounds;
    expect(microseconds).toBeLessThan(20);
  });
});
