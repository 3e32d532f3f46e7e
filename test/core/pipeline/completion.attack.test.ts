import { type Core, definePlugin, type Era, type Plugin } from '@toolmgr/core';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { expect } from 'vitest';
import { z } from 'zod';
import { proves } from '../../support/proves.ts';

const ERAS: readonly Era[] = ['2025-11-25', '2026-07-28'];
const PUBLIC = 'docs://team/public';
const TEMPLATE = 'docs://team/{page}';

/** Only the public page, and only by its own name. */
const policy: Plugin = definePlugin({
  address: 'policy',
  config: z.strictObject({}),
  apply({ hooks }: Core) {
    const refusal = { refused: true, status: 403, reason: 'not public' } as const;
    hooks.authorize.tap('policy', ({ name }) => (name === PUBLIC ? undefined : refusal));
  },
});

proves(
  'choice.order.completion-by-template',
  'a completion is decided on the template that it is sent for, not on the URI that was named',
  async () => {
    const server = fakeServer().template(TEMPLATE);
    server.capabilities.completions = {};
    server
      .on('completion/complete', () => ({ completion: { values: ['secret-page'] } }))
      .on('resources/read', () => ({ contents: [] }));
    for (const plugins of [[policy], []]) {
      await using kit = await testGateway({ plugins, backends: { far: server } });
      for (const era of ERAS) {
        const client = await kit.client({ era });
        const before = server.received.length;
        const argument = { name: 'page', value: '' };
        const { error } = await client.request('completion/complete', {
          ref: { type: 'ref/resource', uri: PUBLIC },
          argument,
        });
        const sent = server.received.slice(before).filter(({ method }) => method === 'completion/complete');
        if (plugins.length > 0) {
          expect([error?.code, sent]).toEqual([403, []]);
          expect((await client.request('resources/read', { uri: PUBLIC })).error).toBeUndefined();
        } else expect(sent).toMatchObject([{ params: { ref: { type: 'ref/resource', uri: TEMPLATE } } }]);
      }
    }
  },
);
