import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { DEFAULT_LIMITS } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { ByteCollector } from '../../../core/json/byte-pieces.ts';
import { type BodyFault, readNodeBody } from '../../../core/server/http/body.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

/** A body of `bytes`, in pieces of the sizes given in turn. */
function piecesOf(bytes: number, ...sizes: readonly number[]): Buffer[] {
  const body = Buffer.from(Array.from({ length: bytes }, (_, at) => at % 251));
  const pieces: Buffer[] = [];
  for (let at = 0, n = 0; at < bytes; n++) {
    const size = sizes[n % sizes.length] ?? 1;
    pieces.push(body.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

function gathered(pieces: readonly Uint8Array[]): ByteCollector {
  const gathering = new ByteCollector();
  for (const piece of pieces) gathering.add(piece);
  return gathering;
}

describe('bytes that arrive in pieces', () => {
  it.each([
    [0, [1]],
    [1, [1]],
    [4_097, [1]],
    [70_000, [1]],
    [70_001, [4_096, 1]],
    [300_000, [65_536]],
    [300_000, [1, 65_536, 7, 100_000]],
  ])('are whole again: %i bytes in pieces of %j', (bytes, sizes) => {
    const pieces = piecesOf(bytes, ...sizes);
    const gathering = gathered(pieces);
    expect(gathering.bytes).toBe(bytes);
    expect(gathering.whole().equals(Buffer.concat(pieces))).toBe(true);
  });

  it('stay the same buffer when they come in one piece', () => {
    const piece = Buffer.from('{"jsonrpc":"2.0"}');
    expect(gathered([piece]).whole()).toBe(piece);
  });

  it('are not copied when they lie next to each other', () => {
    const body = Buffer.from('0123456789');
    const whole = gathered([body.subarray(1, 4), body.subarray(4, 5), body.subarray(5, 9)]).whole();
    expect([whole.toString(), whole.buffer === body.buffer]).toEqual(['12345678', true]);
    const apart = gathered([body.subarray(1, 4), body.subarray(5, 9), body.subarray(9)]).whole();
    expect(apart.toString()).toBe('12356789');
  });

  proves('choice.http.small-pieces', 'take about their own size: 2 MB in single bytes less than 4 MB', () => {
    const memory = (): number => {
      collect(); // each piece that was added has left garbage
      const { heapUsed, arrayBuffers, external } = process.memoryUsage();
      return heapUsed + Math.max(arrayBuffers, external);
    };
    const gathering = new ByteCollector();
    const before = memory();
    for (let n = 0; n < 2_000_000; n++) gathering.add(byteFor(n));
    expect(memory() - before).toBeLessThan(4_000_000);
    expect(gathering.whole()).toHaveLength(2_000_000);
  });
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const BYTES = Array.from({ length: 256 }, (_, byte) => Buffer.from([byte]));

function byteFor(n: number): Buffer {
  return BYTES[n % 256] as Buffer;
}

describe('a body in pieces of one byte', () => {
  proves('choice.http.small-pieces', 'leaves turns to others: one read of it in each', async () => {
    const perTurn: number[] = [0];
    let body: Buffer | BodyFault | undefined;
    let isOver = false;
    const server = createServer((request, response) => {
      const turn = (): void => {
        if (isOver) return;
        perTurn.push(0);
        setImmediate(turn);
      };
      turn();
      request.on('data', () => perTurn.push((perTurn.pop() ?? 0) + 1));
      void readNodeBody(request, DEFAULT_LIMITS).then((read) => {
        body = read;
        isOver = true;
        response.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const sender = new Worker(SENDER, { eval: true, workerData: { port, pieces: 200_000 } });
    try {
      await until(() => isOver);
    } finally {
      await sender.terminate();
      server.closeAllConnections();
      server.close();
    }
    expect(body).toHaveLength(200_000);
    // 64 KiB of six bytes for each piece, and what was there when it began to rest
    expect(Math.max(...perTurn)).toBeLessThan(2 * (65_536 / 6) + 1_024);
  });
});

/** Sends at once what it has, from a thread of its own: the reader finds full buffers. */
const SENDER = `
  const { workerData: { port, pieces } } = require('node:worker_threads');
  const socket = require('node:net').connect(port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\\r\\nhost: x\\r\\ntransfer-encoding: chunked\\r\\n\\r\\n' + '1\\r\\nx\\r\\n'.repeat(pieces) + '0\\r\\n\\r\\n');
  socket.on('data', () => socket.end());
`;
