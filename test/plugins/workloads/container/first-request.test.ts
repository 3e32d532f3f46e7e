import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { namesThisMachine } from '../../../../plugins/workloads/container/network/first-request.ts';

/** What the check says about a connection, and what can be read after it. */
async function check(...pieces: readonly string[]): Promise<readonly [boolean, string]> {
  const result = Promise.withResolvers<readonly [boolean, string]>();
  const server = createServer({ allowHalfOpen: true }, async (socket) => {
    const isGood = await namesThisMachine(socket);
    let text = '';
    for await (const part of socket) text += part;
    result.resolve([isGood, text]);
    socket.end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  for (const piece of pieces) {
    client.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  client.end();
  try {
    return await result.promise;
  } finally {
    server.close();
  }
}

it('takes a connection whose first request names this machine, and keeps its bytes', async () => {
  for (const host of ['127.0.0.1:4000', 'localhost', 'LOCALHOST:1', '[::1]:4000', '127.0.0.2']) {
    const request = `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 4\r\n\r\nbody`;
    expect(await check(request)).toEqual([true, request]);
    expect(await check(request.slice(0, 25), request.slice(25), 'more')).toEqual([true, `${request}more`]);
  }
});

it('refuses any other, and what is no request', async () => {
  for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example:80', '']) {
    const [isGood] = await check(`GET /mcp HTTP/1.1\r\nHost: ${host}\r\nX: localhost\r\n\r\n`);
    expect(isGood, host).toBe(false);
  }
  expect((await check('GET /mcp HTTP/1.1\r\n\r\n'))[0]).toBe(false);
  expect((await check('GET /'))[0]).toBe(false);
  expect((await check('x'.repeat(200_000)))[0]).toBe(false);
});
