import type { Gateway, JsonObject } from '@toolmgr/core';
import { type EventReader, modernRequest, readEvents } from './open-endpoint.ts';

const URL_IN_MEMORY = 'http://localhost/mcp';

/** A raw legacy session with a gateway in memory, with its GET stream. */
export async function legacySession(gateway: Gateway, capabilities: JsonObject = {}) {
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'test', version: '1' } };
  const opening = await post(gateway, { jsonrpc: '2.0', id: 0, method: 'initialize', params }, {});
  const hello = (await opening.json()) as { result: JsonObject };
  const id = opening.headers.get('mcp-session-id') ?? '';
  const headers = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' };
  await post(gateway, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers);
  return {
    hello: hello.result,
    headers,
    async request(method: string, asked: JsonObject = {}): Promise<JsonObject> {
      const response = await post(gateway, { jsonrpc: '2.0', id: 1, method, params: asked }, headers);
      return (await response.json()) as JsonObject;
    },
    stream: async (): Promise<EventReader> =>
      readEvents(
        await gateway.fetch(new Request(URL_IN_MEMORY, { headers: { ...headers, accept: 'text/event-stream' } })),
      ),
    end: () => gateway.fetch(new Request(URL_IN_MEMORY, { method: 'DELETE', headers })),
  };
}

/** The instructions that a new client of each revision gets, which must be the same. */
export async function instructionsOf(gateway: Gateway): Promise<unknown> {
  const { hello, end } = await legacySession(gateway);
  await end();
  const { body, headers } = modernRequest('server/discover', {});
  const { result } = (await (await post(gateway, body, headers)).json()) as { result: JsonObject };
  if (result.instructions !== hello.instructions) throw new Error('the revisions differ in their instructions');
  return hello.instructions;
}

/** A `subscriptions/listen` request of a modern client; the first event lists the accepted subscriptions. */
export async function modernListen(
  gateway: Gateway,
  notifications: JsonObject,
  more: Readonly<Record<string, string>> = {},
): Promise<EventReader> {
  const { body, headers } = modernRequest('subscriptions/listen', { notifications }, { id: 'listen' });
  return readEvents(await post(gateway, body, { ...headers, ...more }));
}

function post(gateway: Gateway, message: JsonObject, headers: Readonly<Record<string, string>>): Promise<Response> {
  const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers };
  return gateway.fetch(new Request(URL_IN_MEMORY, { method: 'POST', headers: all, body: JSON.stringify(message) }));
}
