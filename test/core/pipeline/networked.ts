import { request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import { type TestClientOptions, type TestGateway, testClient } from '@toolmgr/core/testing';
import { loopbackServer } from '../../support/loopback-server.ts';

/** A gateway on a socket, for stateless clients that come from an address of this machine each. */
export async function networked(kit: TestGateway, options: TestClientOptions = {}) {
  const server = await loopbackServer((request, response) => kit.gateway.handle(request, response));
  const url = `${server.url}/mcp`;
  return {
    clientFrom: (address: string) => testClient((request) => fetchFrom(address, request), url, options),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
    },
  };
}

/** As `fetch`, from an address of this machine. */
async function fetchFrom(localAddress: string, request: Request): Promise<Response> {
  const body = Buffer.from(await request.arrayBuffer());
  const headers = Object.fromEntries(request.headers);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(request.url, { method: request.method, headers, localAddress, agent: false }, (answer) => {
      const type = answer.headers['content-type'] ?? '';
      const stream = Readable.toWeb(answer) as ReadableStream;
      resolve(new Response(stream, { status: answer.statusCode ?? 0, headers: { 'content-type': type } }));
    });
    sent.on('error', reject).end(body);
  });
}
