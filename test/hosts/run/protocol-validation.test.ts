import { tmpdir } from 'node:os';
import { createGateway } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect } from 'vitest';
import { configFromFlags } from '../../../hosts/workloads/config/config-from-flags.ts';
import { commanderOptions } from '../../../hosts/workloads/fields/options.ts';
import { planFromRun } from '../../../hosts/workloads/proxy/plan.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { defaultFlags } from './default-flags.ts';

const LONG = 120_000;

/** Statuses of pings in a session of a workload's proxy, by their version header. */
async function pinged(flags: { strictProtocolValidation?: boolean }, versions: readonly (string | undefined)[]) {
  await using server = await recordingServer();
  const wanted = { ...defaultFlags, transport: 'streamable-http', ...flags } as const;
  const { config } = await configFromFlags(server.url, [], wanted, tmpdir(), 0);
  const plan = await planFromRun(config, { runId: 'x' });
  const gateway = await createGateway(plan, { catalogue });
  const post = (method: string, params: object, headers: Record<string, string>) =>
    gateway.fetch(
      new Request('http://127.0.0.1/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      }),
    );
  try {
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
    const session = (await post('initialize', hello, {})).headers.get('mcp-session-id') ?? '';
    const statuses: number[] = [];
    for (const version of versions) {
      const named: Record<string, string> = version === undefined ? {} : { 'mcp-protocol-version': version };
      statuses.push((await post('ping', {}, { 'mcp-session-id': session, ...named })).status);
    }
    return statuses;
  } finally {
    await gateway.stop();
  }
}

const VERSIONS = ['2025-11-25', '2025-06-18', undefined, '2031-01-01', 'nonsense'];

describe('the proxy of a workload', () => {
  proves(
    ['run.option.strict-protocol-validation', 'run.option.strict-protocol-validation-off'],
    'accepts any MCP-Protocol-Version by default',
    async () => {
      expect(await pinged({}, VERSIONS)).toEqual([200, 200, 200, 200, 200]);
      const found = commanderOptions().find(({ long }) => long === '--strict-protocol-validation');
      expect(found?.isBoolean()).toBe(true);
    },
    LONG,
  );

  proves(
    ['run.option.strict-protocol-validation-400', 'run.option.strict-protocol-validation-absent'],
    'answers 400 to an unknown version with --strict-protocol-validation, and accepts a missing one',
    async () => {
      expect(await pinged({ strictProtocolValidation: true }, VERSIONS)).toEqual([200, 200, 200, 400, 400]);
    },
    LONG,
  );
});
