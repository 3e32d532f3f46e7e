import { describe, expect, it } from 'vitest';
import { ChunkedBody } from '../../../core/http1/chunked-body.ts';
import { MalformedResponse, readResponseHead } from '../../../core/http1/response-head.ts';
import fc from '../../support/fast-check.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';
import { OK } from './ambiguous-responses.ts';
import { plainAnswer, poolTo, post, scriptedServer } from './scripted-server.ts';

describe('a backend that breaks HTTP', () => {
  for (const [when, body] of [
    ['behind its answer', (forged: string) => plainAnswer('own') + forged],
    [
      'behind its last chunk',
      (forged: string) => `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nown\r\n0\r\n\r\n${forged}`,
    ],
    ['behind an answer without a body', (forged: string) => `HTTP/1.1 204 No Content\r\n\r\n${forged}`],
  ] as const) {
    proves('choice.backend.http-framing', `cannot leave an answer for the next caller ${when}`, async () => {
      const forged = plainAnswer('forged');
      const server = await scriptedServer(({ socket }, number) => {
        socket.write(number === 1 ? body(forged) : plainAnswer('next'));
      });
      const pool = poolTo(server);
      let second: Promise<{ readonly body: string }> | undefined;
      // The next request is sent from within the end of the first, while the forged bytes lie in the same read.
      const first = await post(
        pool,
        '{}',
        {},
        {
          ended: () => {
            second = post(pool);
          },
        },
      );
      expect(['own', '']).toContain(first.body);
      expect((await second)?.body).toBe('next');
      expect(server.sockets).toHaveLength(2);
    });
  }

  proves('choice.backend.http-framing', 'cannot send an answer ahead of its request', async () => {
    const server = await scriptedServer(({ socket }, number) => {
      socket.write(plainAnswer(`answer ${number}`));
      if (number === 1) setImmediate(() => socket.write(plainAnswer('ahead')));
    });
    const pool = poolTo(server);
    await post(pool);
    await until(() => server.sockets[0]?.closed === true);
    expect((await post(pool)).body).toBe('answer 2');
  });

  proves(
    'choice.backend.http-framing',
    'that answers before it has read the request gets no other on that connection',
    async () => {
      const server = await scriptedServer(() => {});
      const pool = poolTo(server);
      const large = 'x'.repeat(30_000_000);
      const refused = post(pool, large);
      await until(() => server.sockets.length === 1);
      const [socket] = server.sockets;
      socket?.pause(); // what was not read stays in the sender's hands
      socket?.write('HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n');
      const outcome = await refused;
      if (outcome.error === undefined) expect(outcome.head?.status).toBe(413);
      socket?.resume();
      await until(() => socket?.closed === true);
    },
  );

  it('fails cleanly whatever bytes it sends as a head', () => {
    const line = fc.string({
      unit: fc.constantFrom('\r', '\n', ':', ' ', 'a', '1', 'HTTP/1.1 200', 'content-length', 'chunked', ','),
      maxLength: 20,
    });
    fc.assert(
      fc.property(line, (rest) => {
        try {
          const head = readResponseHead(Buffer.from(`HTTP/1.1 200 OK\r\n${rest}`));
          return head.status === 200 && Number.isInteger(head.length);
        } catch (cause) {
          return cause instanceof MalformedResponse;
        }
      }),
      { numRuns: 2_000 },
    );
  });

  proves(
    'choice.backend.http-framing',
    'that hides little data between long chunk extensions keeps little memory',
    () => {
      const sent = Buffer.from(`1;${'x'.repeat(1_000)}\r\ny\r\n`.repeat(60));
      const got: Buffer[] = [];
      const body = new ChunkedBody();
      for (let n = 0; n < 100; n++) body.read(sent, (data) => got.push(data));
      expect(Buffer.concat(got).toString()).toBe('y'.repeat(6_000));
      // Small pieces share the memory that Node keeps for them.
      const kept = [...new Set(got.map(({ buffer }) => buffer))].reduce(
        (bytes, { byteLength }) => bytes + byteLength,
        0,
      );
      expect(kept).toBeLessThan((100 * sent.length) / 10);
    },
  );

  it('has its chunks read the same however they are cut', () => {
    const bodies = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 8 });
    fc.assert(
      fc.property(bodies, fc.array(fc.nat(400), { maxLength: 12 }), (chunks, cuts) => {
        const sent = Buffer.concat([
          ...chunks.flatMap((chunk) => [Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]),
          Buffer.from('0\r\n\r\n'),
        ]);
        const body = new ChunkedBody();
        const got: Buffer[] = [];
        const places = [...new Set([0, ...cuts.map((cut) => cut % sent.length), sent.length])].sort((a, b) => a - b);
        for (let n = 1; n < places.length; n++) {
          const piece = sent.subarray(places[n - 1], places[n]);
          if (body.read(piece, (data) => got.push(data)) !== piece.length) return false;
        }
        return body.done && Buffer.concat(got).equals(Buffer.concat(chunks));
      }),
      { numRuns: 500 },
    );
  });
});

describe('a header of a request', () => {
  for (const [what, headers] of [
    ['a line break in its value', { 'x-a': 'b\r\nx-forged: 1' }],
    ['a lone line feed in its value', { 'x-a': 'b\nx-forged: 1' }],
    ['a NUL in its value', { 'x-a': 'b\0' }],
    ['what is no Latin-1 in its value', { 'x-a': 'b\u{10a}x-forged' }],
    ['a line break in its name', { 'x-a: b\r\nx-forged': '1' }],
    ['a space in its name', { 'x a': '1' }],
    ['no name', { '': '1' }],
    ['the length of the body', { 'Content-Length': '0' }],
    ['a transfer coding', { 'transfer-encoding': 'chunked' }],
    ['another host', { Host: 'elsewhere' }],
    ['a word about the connection', { connection: 'close' }],
  ] as const) {
    proves('choice.backend.http-headers', `with ${what} is not sent, and the connection stays good`, async () => {
      const server = await scriptedServer(({ socket }) => void socket.write(plainAnswer('x')));
      const pool = poolTo(server);
      await post(pool);
      const refused = await post(pool, '{}', headers as unknown as Record<string, string>);
      expect(refused).toMatchObject({ isSent: false, error: { name: 'TypeError' } });
      expect((await post(pool)).body).toBe('x');
      expect(server.heard.some(({ text }) => text.includes('forged'))).toBe(false);
      expect(server.sockets).toHaveLength(1);
    });
  }

  proves('choice.backend.http-headers', 'may hold any Latin-1 text, and arrives as it is', async () => {
    const server = await scriptedServer(({ socket }) => void socket.write(plainAnswer('x')));
    await post(poolTo(server), '{}', { 'x-a': 'caf\u00e9\t"quoted"' });
    expect(server.heard[0]?.text).toContain('x-a: caf\u00e9\t"quoted"\r\n');
  });
});
