import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { echoed } from '../../../core/mcp/errors.ts';
import { proves } from '../../support/proves.ts';

const LONG = 1_000_000;

describe('an error about text of a caller', () => {
  proves('choice.wire.echoed-text', 'repeats the start of a long one only', async () => {
    await using kit = await testGateway({ backends: { far: fakeServer().tool('t').resource('x://a', 'a') } });
    const long = 'aB'.repeat(LONG / 2);
    const requests: readonly (readonly [string, Record<string, unknown>])[] = [
      ['tools/call', { name: 'n'.repeat(1_000) }],
      ['prompts/get', { name: 'n'.repeat(1_000) }],
      ['completion/complete', { ref: { type: 'ref/prompt', name: 'n'.repeat(1_000) }, argument: {} }],
      ['tools/call', { name: long }],
      ['resources/read', { uri: `x://${'%25'.repeat(LONG)}` }],
      ['tools/call', { name: 't', arguments: { [long]: 1, [long.toLowerCase()]: 2 } }],
    ];
    for (const era of ['2025-11-25', '2026-07-28'] as const) {
      const client = await kit.client({ era });
      for (const [method, params] of requests) {
        const { error } = await client.request(method, params as never);
        expect([method, typeof error?.code, JSON.stringify(error).length < 1_000]).toEqual([method, 'number', true]);
      }
      if (era === '2025-11-25') expect((await client.request(long)).error?.message.length).toBeLessThan(300);
    }
  });

  it('is cut between characters', () => {
    expect(echoed('short')).toBe('short');
    expect(echoed('🙂'.repeat(200))).toBe(`${'🙂'.repeat(99)}…`);
  });
});
