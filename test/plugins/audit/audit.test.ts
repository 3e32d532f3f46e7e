import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CallRecord, type JsonObject, RawObject } from '@toolmgr/core';
import { beforeEach, describe, expect, it } from 'vitest';
import { Cancel } from '../../../core/timing/cancel.ts';
import { auditConfig } from '../../../plugins/audit/config.ts';
import { EVENT_TYPES } from '../../../plugins/audit/event-types.ts';
import audit from '../../../plugins/audit/index.ts';
import { bootPlugin } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const settled = (changes: Partial<CallRecord> = {}, call: Partial<CallRecord['call']> = {}): CallRecord => ({
  call: {
    id: 'call-1',
    method: 'tools/call',
    name: 'github_search',
    target: {
      kind: 'tool',
      key: 'github_search',
      backend: 'github',
      original: 'search',
      definition: Buffer.from('{}'),
      shapedBy: [],
    },
    params: Buffer.from('{"name":"github_search","arguments":{"password":"hunter2"}}'),
    members: RawObject.parse(Buffer.from('{"name":"github_search"}')),
    arguments: { password: 'hunter2' },
    meta: undefined,
    caller: { issuer: 'https://id', subject: 'u1', key: 'https://id\0u1', claims: { email: 'ada@example.com' } },
    client: {
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
      notify: () => {},
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
  beforeEach(() => {
    folder = temporaryFolder('audit');
  });

  const linesOf = async (file: string): Promise<JsonObject[]> =>
    (await readFile(file, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject);

  /** Boots the plugin on a file, settles the records, stops it, and returns the lines. */
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
        source: { type: 'local', extra: { request_id: 'call-1' } },
        subjects: { user: 'ada@example.com', user_id: 'u1', client_name: 'inspector', client_version: '1.0' },
        target: { method: 'tools/call', name: 'github_search', type: 'tool' },
        metadata: { extra: { duration_ms: 12.346, response_size_bytes: 345, backend_name: 'github' } },
      },
    ]);
  });

  it.each([
    ['ok', {}, 'success', {}],
    ['toolError', {}, 'success', { tool_error: true }],
    ['refused', { refusal: { refused: true, status: 403, reason: 'no' } }, 'denied', { refusal: 'no' }],
    ['refused', { refusal: { refused: true, status: 429, reason: 'slow' } }, 'failure', {}],
    [
      'error',
      { error: { code: -32602, message: 'x'.repeat(300) } },
      'application_error',
      { jsonrpc_error_code: -32602 },
    ],
    ['error', { error: { code: -32021, message: 'x', status: 400 } }, 'failure', { jsonrpc_error_code: -32021 }],
    ['error', { error: { code: -32603, message: 'x', status: 500 } }, 'error', {}],
    ['fault', {}, 'error', {}],
    ['cancelled', {}, 'failure', { cancelled: true }],
    ['abandoned', {}, 'failure', { abandoned: true }],
  ] as const)('maps the end of a call to an outcome: %s %j is %s', async (outcome, changes, said, extra) => {
    const [line] = await linesAfter([settled({ outcome, ...changes } as Partial<CallRecord>)]);
    expect(line).toMatchObject({ outcome: said, metadata: { extra } });
    const message = (line?.metadata as JsonObject | undefined)?.extra as JsonObject | undefined;
    expect(String(message?.jsonrpc_error_message ?? '').length).toBeLessThanOrEqual(256);
  });

  proves(
    ['vmcp.audit.max-delegation-depth', 'vmcp.audit.max-delegation-depth-truncated'],
    'lists the actors outermost first, cut at the configured depth and marked',
    async () => {
      const caller = {
        ...settled().call.caller,
        claims: { act: { iss: 'i', sub: 'a', act: { iss: 'i', sub: 'b', act: { sub: 'c' } } } },
      };
      const record = settled({}, { caller });
      const [whole] = await linesAfter([record]);
      expect(whole?.delegation).toEqual({ chain: [{ iss: 'i', sub: 'a' }, { iss: 'i', sub: 'b' }, { sub: 'c' }] });
      const cut = (await linesAfter([record], { maxDelegationDepth: 1 })).at(-1);
      expect(cut?.delegation).toEqual({ chain: [{ iss: 'i', sub: 'a' }], truncated: true, omitted: 2 });
      expect(auditConfig.parse({}).maxDelegationDepth).toBe(10);
    },
  );

  it('names why an act claim is malformed', async () => {
    const caller = { ...settled().call.caller, claims: { act: { sub: 'a', act: 'b' } } };
    const [line] = await linesAfter([settled({}, { caller })]);
    expect(line?.delegation).toEqual({
      chain: [{ sub: 'a' }],
      malformed: true,
      malformedReason: 'nested act is not an object',
    });
  });

  it('handles a chain of any depth', async () => {
    let act: JsonObject = { sub: 'last' };
    for (let depth = 0; depth < 5_000; depth++) act = { sub: `s${depth}`, act };
    const caller = { ...settled().call.caller, claims: { act } };
    const [line] = await linesAfter([settled({}, { caller })]);
    expect(line?.delegation).toMatchObject({ truncated: true, omitted: 990 });
  });

  it.each([
    [{ eventTypes: ['mcp_tool_calls'] }, /expected one of/],
    [{ excludeEventTypes: ['sse'] }, /expected one of/],
    [{ maxDelegationDepth: 0 }, />=1/],
    [{ maxDataSize: 1.5 }, /expected int/],
    [{ includeRequestData: 'yes' }, /expected boolean/],
  ])('refuses invalid settings: %j', (config, sentence) => {
    const read = auditConfig.safeParse(config);
    expect(read.error?.issues.map((issue) => issue.message).join()).toMatch(sentence);
  });

  proves(
    [
      'vmcp.audit.detect-application-errors',
      'vmcp.audit.include-request-data',
      'vmcp.audit.include-response-data',
      'vmcp.audit.max-data-size',
    ],
    'has the defaults of the contract',
    () => {
      expect(auditConfig.parse({})).toEqual({
        component: 'toolmgr-vmcp',
        metadata: {},
        onFailure: 'continue',
        detectApplicationErrors: true,
        eventTypes: [],
        excludeEventTypes: [],
        includeRequestData: false,
        includeResponseData: false,
        logFile: '',
        maxDataSize: 1024,
        maxDelegationDepth: 10,
      });
    },
  );

  it('accepts every type of the contract', () => {
    expect(auditConfig.parse({ eventTypes: [...EVENT_TYPES] }).eventTypes).toHaveLength(33);
  });
});
