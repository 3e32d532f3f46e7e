import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { DEFAULT_LIMITS } from '@toolmgr/core';
import { afterEach, describe, expect, it } from 'vitest';
import { type ListenOptions, type Served, serveGateway } from '../../../hosts/http/listen.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

let served: Served | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await served?.close(0);
  served = undefined;
});

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

const greet: Handle = (_request, response) => void response.end('hello');

const serve = async (limits: ListenOptions['limits'], handle: Handle = greet): Promise<number> => {
  served = await serveGateway({ handle }, { host: '127.0.0.1', port: 0, limits: limits ?? {} });
  return served.port;
};

/** A connection from an address of this machine, and the received bytes. */
async function dial(port: number, from = '127.0.0.1') {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  sockets.push(socket);
  let heard = '';
  socket.on('data', (chunk) => {
    heard += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
  return {
    socket,
    send: (text: string) => void socket.write(text),
    heard: () => heard,
    isClosed: () => socket.destroyed || socket.readableEnded,
  };
}

const GET = 'GET /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n';

describe('connections', () => {
  proves(
    'choice.http.connections',
    'of one address are limited: a new one replaces the oldest without a request',
    async () => {
      expect([DEFAULT_LIMITS.connections, DEFAULT_LIMITS.connectionsPerAddress]).toEqual([10_000, 5_000]);
      const port = await serve({ connectionsPerAddress: 3 });
      const used = await dial(port);
      used.send(GET);
      await until(() => used.heard().includes('hello'));
      const [first, second, third] = [await dial(port), await dial(port), await dial(port)];
      await until(() => first.isClosed()); // never sent a whole request; the idle one did
      third.send(GET);
      await until(() => third.heard().includes('hello'));
      const fourth = await dial(port);
      fourth.send(GET);
      await until(() => second.isClosed() && fourth.heard().includes('hello'));
      used.send(GET);
      await until(() => used.heard().split('hello').length === 3);
    },
  );

  proves(
    'choice.http.connections',
    'of an address that has taken all are closed for new ones of other addresses',
    async () => {
      const port = await serve({ connections: 4 });
      const greedy = await Promise.all(Array.from({ length: 4 }, () => dial(port, '127.0.0.2')));
      for (const { send } of greedy) send('GET /mcp HTTP/1.1\r\nx-unfinished: ');
      const other = await dial(port, '127.0.0.3');
      other.send(GET);
      await until(() => other.heard().includes('hello'));
      await until(() => greedy.filter(({ isClosed }) => isClosed()).length === 1);
      const another = await dial(port, '127.0.0.4');
      another.send(GET);
      await until(() => another.heard().includes('hello'));
      expect(other.isClosed()).toBe(false);
      // more connections of that address replace its own
      await dial(port, '127.0.0.2');
      await until(() => greedy.filter(({ isClosed }) => isClosed()).length === 3);
      expect([other.isClosed(), another.isClosed()]).toEqual([false, false]);
    },
  );

  it('with a request in flight are never closed for a new one', async () => {
    const answers: ServerResponse[] = [];
    const port = await serve({ connectionsPerAddress: 2 }, (_request, response) => void answers.push(response));
    const busy = [await dial(port), await dial(port)];
    for (const { send } of busy) send(GET);
    await until(() => answers.length === 2);
    const late = await dial(port);
    await until(() => late.isClosed());
    for (const answer of answers) answer.end('hello');
    await until(() => busy.every(({ heard }) => heard().includes('hello')));
    const next = await dial(port);
    next.send(GET);
    await until(() => answers.length === 3);
    answers[2]?.end('hello');
    await until(() => next.heard().includes('hello'));
  });

  proves(
    'choice.http.head-time',
    'with a slow request head are closed within a second after the time limit',
    async () => {
      expect(DEFAULT_LIMITS.headerTimeoutMs).toBe(10_000);
      const port = await serve({ headerTimeoutMs: 1_000 });
      const startedMs = performance.now();
      const slow = await dial(port);
      slow.send('GET /mcp HTTP/1.1\r\n');
      const trickle = setInterval(() => slow.send('x'), 100);
      await until(() => slow.isClosed()).finally(() => clearInterval(trickle));
      expect(slow.heard()).toMatch(/^HTTP\/1\.1 408 /);
      expect(performance.now() - startedMs).toBeLessThan(8_000); // a second on a quiet machine; the default is 10 s
    },
  );
});
