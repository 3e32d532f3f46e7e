import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { DEFAULT_LIMITS } from '@toolmgr/core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ResponseStream } from '../../../core/contract/inbound.ts';
import { ByteBudget } from '../../../core/mcp/byte-budget.ts';
import { NodeResponder } from '../../../core/server/http/node-adapter.ts';
import { UnsentBytes } from '../../../core/server/http/unsent-bytes.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

describe('what a client has not read', () => {
  proves(
    'choice.limits.send-timeout',
    'a connection that has read a large response is closed when it stays idle, as any other',
    async () => {
      const { bytes, socket } = await served((responder) => responder.send(200, {}, Buffer.alloc(LARGE, ' ')), 60_000);
      socket.write(REQUEST);
      let read = 0;
      socket.on('data', (chunk) => {
        read += chunk.length;
      });
      await once(socket, 'close', { signal: AbortSignal.timeout(20_000) });
      expect(read).toBeGreaterThan(LARGE);
      await until(() => bytes.now.held === 0);
    },
  );

  proves(
    'choice.limits.send-timeout',
    'a client that reads nothing is disconnected, although it sends empty lines all the time',
    async () => {
      const { bytes, socket } = await served((responder) => responder.send(200, {}, Buffer.alloc(LARGE, ' ')));
      socket.pause();
      socket.write(REQUEST);
      await until(() => bytes.now.held > 0);
      const drip = setInterval(() => socket.write('\r\n'), 50);
      onTestFinished(() => clearInterval(drip));
      await until(() => bytes.now.held === 0);
    },
  );

  proves('choice.limits.send-timeout', 'a slow client that reads now and then is not disconnected', async () => {
    // it takes longer to read all; the system says about each megabyte that it was read
    const answer = (responder: NodeResponder) => responder.send(200, {}, Buffer.alloc(LARGE, ' '));
    const { bytes, socket } = await served(answer, 2_500);
    socket.write(REQUEST);
    let read = 0;
    socket.on('data', (chunk) => {
      read += chunk.length;
      socket.pause();
    });
    const slow = setInterval(() => socket.resume(), 6);
    onTestFinished(() => clearInterval(slow));
    await until(() => read > LARGE);
    await until(() => bytes.now.held === 0);
  });

  proves(
    'choice.limits.send-timeout',
    'a client is not disconnected while it reads an earlier response, nor because the process stood still',
    async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      onTestFinished(() => void vi.useRealTimers());
      const handle = { bytesWritten: 100, writeQueueSize: 100 };
      let cuts = 0;
      const socket = { _handle: handle, destroy: () => void cuts++ };
      const waits = { writableLength: 100, closed: false, socket: null, req: { socket } };
      const response = Object.assign(new EventEmitter(), waits) as unknown as ServerResponse;
      new UnsentBytes(response, budget().holder(), 500).count();
      for (let times = 0; times < 4; times++) {
        vi.advanceTimersByTime(500);
        setImmediate(() => handle.writeQueueSize--); // what the client has read is seen after the timers
        for (let turns = 0; turns < 4; turns++) await turn();
        expect(cuts).toBe(0);
      }
      vi.advanceTimersByTime(500);
      for (let turns = 0; turns < 4; turns++) await turn();
      expect(cuts).toBe(1);
      response.emit('close');
    },
  );

  proves(
    ['choice.limits.send-timeout', 'choice.limits.memory-released'],
    'a client that sends two requests at once, and reads only the first response, is disconnected',
    async () => {
      const { bytes, socket } = await served((responder) => responder.send(200, {}, Buffer.alloc(LARGE, ' ')), 1_500);
      socket.write(REQUEST + REQUEST);
      let read = 0;
      let held = 0;
      socket.on('data', (chunk) => {
        read += chunk.length;
        if (read <= LARGE + 65_536 || socket.isPaused()) return;
        socket.pause();
        held = bytes.now.held;
      });
      await until(() => held > 0);
      await until(() => bytes.now.held === 0);
    },
  );

  proves(
    'choice.limits.memory-budget',
    'events are counted while the response to an earlier request of the connection is not complete',
    async () => {
      const streams: ResponseStream[] = [];
      const { bytes, socket } = await served((responder) => void streams.push(responder.open(200, {})));
      socket.write(REQUEST + REQUEST);
      await until(() => streams.length === 2);
      streams[1]?.write('x'.repeat(1_048_576));
      await until(() => bytes.now.held >= 1_048_576);
      socket.destroy();
      await until(() => bytes.now.held === 0);
    },
  );
});

it('the events of one turn are sent as one chunk, and those of the next with the end', async () => {
  let stream: ResponseStream | undefined;
  const { socket } = await served((responder) => {
    stream = responder.open(200, {});
    for (const text of ['one ', Buffer.from('zwei '), 'd’rei']) stream.write(text);
  });
  let read = '';
  socket.on('data', (bytes) => {
    read += bytes;
  });
  socket.write(REQUEST);
  await until(() => read.includes('rei'));
  stream?.write('four ');
  stream?.write('five');
  expect(stream?.pendingBytes).toBe(9);
  stream?.end();
  await until(() => read.endsWith('\r\n0\r\n\r\n'));
  expect(read.slice(read.indexOf('\r\n\r\n') + 4)).toBe('10\r\none zwei d’rei\r\n9\r\nfour five\r\n0\r\n\r\n');
});

const REQUEST = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
const LARGE = 32 * 1_048_576; // more than the buffers of the system

const turn = () => new Promise((resolve) => setImmediate(resolve));
const budget = () => new ByteBudget({ ...DEFAULT_LIMITS, memoryBudgetBytes: 8 * LARGE });

/** A server, and a connection to it. */
async function served(answer: (responder: NodeResponder) => void, sendTimeoutMs = 500) {
  const bytes = budget();
  const server = createServer({ keepAliveTimeout: 20 }, (_request, response) => {
    const responder = new NodeResponder(response, bytes.holder(), sendTimeoutMs);
    answer(responder);
    responder.served();
  });
  server.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  return { bytes, socket };
}
