import { setTimeout as delay } from 'node:timers/promises';
import { Client as ClientV2, SSEClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { text } from '../../../support/fake-gateway.ts';
import { openEndpoint } from '../../../support/open-endpoint.ts';
import { until } from '../../../support/until.ts';

const INFO = { name: 'test-client', version: '1.0.0' };

describe('the SDK client for HTTP+SSE', () => {
  it('lists, calls, gets progress and changes, and answers an elicitation', async () => {
    await using open = await openEndpoint({ sse: { path: '/sse', messagesPath: '/messages' } });
    const client = new Client(INFO, { capabilities: { elicitation: {} } });
    open.service.tools.set('steps', async ({ client }) => {
      const { progressToken } = client;
      client.notify('notifications/progress', Buffer.from(`{"progressToken":${progressToken},"progress":1}`));
      await delay(50); // the client forgets the progress of a call together with its result
      return text('done');
    });
    const errors: Error[] = [];
    client.onerror = (error) => void errors.push(error);
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Ada' } }));
    let changes = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      changes++;
    });
    await client.connect(new SSEClientTransport(new URL(`${open.origin}/sse`)));
    expect(client.getServerVersion()?.name).toBe('fake-gateway');
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
    const progress: number[] = [];
    await client.callTool({ name: 'steps' }, undefined, { onprogress: (step) => void progress.push(step.progress) });
    expect(progress).toEqual([1]);
    expect(JSON.stringify((await client.callTool({ name: 'elicit' })).content)).toContain('Ada');
    await expect(client.callTool({ name: 'denied' })).rejects.toMatchObject({ code: 403 });
    open.service.changeLists({
      capabilityClass: open.service.seen[0]?.client.owner.capabilityClass ?? '',
      kinds: ['tools'],
    });
    await until(() => changes === 1);
    await client.close();
    await until(() => open.endpoint.counts().sessions === 0);
    expect(errors).toEqual([]);
  });

  it('lists and calls in its second generation', async () => {
    await using open = await openEndpoint({ sse: { path: '/sse', messagesPath: '/messages' } });
    const client = new ClientV2(INFO);
    await client.connect(new TransportV2(new URL(`${open.origin}/sse`)));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
    expect((await client.callTool({ name: 'echo', arguments: { a: 1 } })).structuredContent).toEqual({ a: 1 });
    await client.close();
    await until(() => open.endpoint.counts().sessions === 0);
  });
});
