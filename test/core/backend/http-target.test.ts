import { ANONYMOUS } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { type BackendReader, HttpTarget, NEVER } from '../../../core/backend/transports/http-target.ts';
import type { HttpClient, OutgoingRequest, RequestControl } from '../../../core/http1/http-client.ts';

const BACKEND = { name: 'far', transport: 'streamable-http', url: 'http://127.0.0.1:1/mcp' } as const;
const REQUEST = { method: 'POST', headers: {}, caller: ANONYMOUS, purpose: 'call', signal: NEVER } as const;

/** A client that keeps what it is given to send. */
function recordingClient(): { client: HttpClient; sent: OutgoingRequest[]; flow: RequestControl } {
  const sent: OutgoingRequest[] = [];
  const flow = { abort() {}, pause() {}, resume() {} };
  const send = (request: OutgoingRequest) => {
    sent.push(request);
    return flow;
  };
  const client = { send, stats: () => ({ connections: 0, idle: 0 }), close: async () => {}, destroy: async () => {} };
  return { client, sent, flow };
}

function readerOf(): BackendReader & { isWithdrawn: boolean } {
  return { flow: undefined, isWithdrawn: false, answered() {}, received() {}, ended() {}, failed() {} };
}

describe('a request with an asynchronous authorization', () => {
  for (const isWithdrawn of [false, true]) {
    it(isWithdrawn ? 'is not sent when it was withdrawn meanwhile' : 'is sent and its reader controls it', async () => {
      const { client, sent, flow } = recordingClient();
      const authorized = Promise.withResolvers<void>();
      const authorizer = { apply: () => authorized.promise };
      const target = new HttpTarget(BACKEND, { authorizer }, {}, () => client);
      const reader = readerOf();
      target.send(REQUEST, reader, (cause) => expect.unreachable(cause.message));
      reader.isWithdrawn = isWithdrawn;
      authorized.resolve();
      await authorized.promise;
      await Promise.resolve();
      expect(sent).toHaveLength(isWithdrawn ? 0 : 1);
      expect(reader.flow).toBe(isWithdrawn ? undefined : flow);
    });
  }
});
