import type { JsonObject } from '@toolmgr/core';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { proves } from '../../support/proves.ts';

const ERAS = ['2025-11-25', '2026-07-28'] as const;
const LONG_NAME = 'n'.repeat(1_025);
const LONG_URI = `memo://${'u'.repeat(8_186)}`;

const server = () => {
  const far = fakeServer().tool('t').prompt('p', 'x').resource('memo://1', 'x').template('memo://{+id}');
  far.capabilities.completions = {};
  far.capabilities.resources = { subscribe: true };
  far.on('resources/read', ({ params }) => ({ contents: [{ uri: String(params.uri), text: 'x' }] }));
  return far;
};

describe('a name or URI over the limit', () => {
  for (const era of ERAS) {
    proves(
      'choice.limit.names',
      `is refused to every caller before anything compares it, and the error does not repeat it (${era})`,
      async () => {
        const far = server();
        await using kit = await testGateway({ backends: { far } });
        const client = await kit.client({ era });
        await client.request('tools/list', {});
        const requests = [
          ['tools/call', 'params.name', 1_024, { name: LONG_NAME }],
          ['tools/call', 'params.name', 1_024, { name: '\u6f22'.repeat(342) }],
          ['prompts/get', 'params.name', 1_024, { name: LONG_NAME }],
          ['resources/read', 'params.uri', 8_192, { uri: LONG_URI }],
          ['completion/complete', 'params.ref.name', 1_024, completing({ type: 'ref/prompt', name: LONG_NAME })],
          ['completion/complete', 'params.ref.uri', 8_192, completing({ type: 'ref/resource', uri: LONG_URI })],
        ] as const;
        for (const [method, member, limit, params] of requests) {
          const { error } = await client.request(method, params);
          expect(error).toEqual({ code: -32602, message: `${method}: ${member} is longer than ${limit} bytes` });
        }
        expect((await client.request('tools/call', { name: 't' })).error).toBeUndefined();
        expect((await client.request('resources/read', { uri: LONG_URI.slice(0, 8_192) })).error).toBeUndefined();
        expect(far.received.filter(({ method }) => /call|get$|read|complete/.test(method))).toHaveLength(2);
      },
    );
  }

  proves('choice.limit.names', 'is set by the plan', async () => {
    await using kit = await testGateway({
      backends: { far: server() },
      plan: { limits: { nameBytes: 64, uriBytes: 64 } },
    });
    const client = await kit.client({});
    const call = await client.request('tools/call', { name: 'n'.repeat(65) });
    const read = await client.request('resources/read', { uri: `memo://${'u'.repeat(58)}` });
    for (const { error } of [call, read]) expect(error?.message).toMatch(/is longer than 64 bytes$/);
  });

  proves('choice.limit.names', 'is not listed, so that nothing is offered that cannot be called', async () => {
    const far = server()
      .tool(LONG_NAME)
      .tool('n'.repeat(1_000))
      .prompt(LONG_NAME, 'x')
      .resource(LONG_URI, 'x')
      .template(LONG_URI);
    await using kit = await testGateway({ backends: { far } });
    const client = await kit.client({});
    const names = async (method: string, list: string, key: string): Promise<unknown[]> =>
      ((await client.request(method, {})).result?.[list] as Record<string, unknown>[]).map((item) => item[key]);
    expect(await names('tools/list', 'tools', 'name')).toEqual(['n'.repeat(1_000), 't']);
    expect(await names('prompts/list', 'prompts', 'name')).toEqual(['p']);
    expect(await names('resources/list', 'resources', 'uri')).toEqual(['memo://1']);
    expect(await names('resources/templates/list', 'resourceTemplates', 'uriTemplate')).toEqual(['memo://{+id}']);
  });
});

function completing(ref: JsonObject) {
  return { ref, argument: { name: 'a', value: '' } } as const;
}
