import { definePlugin, recordOf, STAGE } from '@toolmgr/core';
import { fakeServer } from '@toolmgr/core/testing';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { tracedGateway } from './traced-gateway.ts';

it('sets the trace id in the record of the request, for other plugins', async () => {
  const seen: (string | undefined)[] = [];
  const witness = definePlugin({
    address: 'test/witness',
    config: z.strictObject({}),
    apply({ hooks }) {
      hooks.callSettled.tap('test/witness', ({ call }) => void seen.push(recordOf(call)?.traceId));
      const late = { name: 'test/witness', stage: STAGE.late };
      hooks.requestSettled.tap(late, (record) => void seen.push(record.traceId));
    },
  });
  await using world = await tracedGateway({ far: fakeServer().tool('read') }, {}, [witness]);
  const client = await world.kit.client();
  await client.callTool('read');
  await client.request('tools/list');
  const ids = [...new Set((await world.spans()).map(({ traceId }) => traceId))];
  expect(ids).toHaveLength(2);
  expect(seen).toHaveLength(3);
  expect(seen[0]).toBe(seen[1]); // the call and its request
  expect(new Set(seen)).toEqual(new Set(ids));
});
