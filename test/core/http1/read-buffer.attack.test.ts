import type { Socket } from 'node:net';
import { describe, expect } from 'vitest';
import type { ResponseReader } from '../../../core/http1/http-client.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';
import { collect, poolTo, type ScriptedServer, scriptedServer } from './scripted-server.ts';

const PIECE = 4_000;
const PIECES = 8;

/** A response whose pieces a test sends one by one. */
interface Framing {
  readonly head: string;
  readonly piece: (text: string) => string;
  readonly end: string;
}

const FRAMINGS: Readonly<Record<string, Framing>> = {
  'with a length': {
    head: `HTTP/1.1 200 OK\r\nContent-Length: ${PIECE * PIECES}\r\n\r\n`,
    piece: (text) => text,
    end: '',
  },
  'in chunks': {
    head: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    piece: (text) => `${text.length.toString(16)}\r\n${text}\r\n`,
    end: '0\r\n\r\n',
  },
};

describe('a body that does not come in one read', () => {
  const LONG = { size: 5_000_000, reserved: 2 * 1024 * 1024 };
  const framings = {
    'with a length': { before: `Content-Length: ${LONG.size}\r\n\r\n`, after: '' },
    'in one chunk': {
      before: `Transfer-Encoding: chunked\r\n\r\n${LONG.size.toString(16)}\r\n`,
      after: '\r\n0\r\n\r\n',
    },
  };
  for (const [how, { before, after }] of Object.entries(framings)) {
    proves('choice.backend.read-buffers', `is copied once, ${how}, and reserves 2 MiB at most`, async () => {
      const server = await scriptedServer(() => {});
      const one = await caller(server, 'a');
      const text = textOf('a', 1).repeat(LONG.size / PIECE);
      one.socket.write(`HTTP/1.1 200 OK\r\n${before}${text.slice(0, 10)}`);
      await until(() => one.size() === 10);
      expect(one.pieces[0]?.buffer.byteLength).toBe(LONG.reserved);
      one.socket.write(text.slice(10) + after);
      expect((await one.done).body).toBe(text);
      const memories = new Set(one.pieces.map(({ buffer }) => buffer));
      expect([...memories].map(({ byteLength }) => byteLength)).toEqual([
        LONG.reserved,
        LONG.reserved,
        expect.any(Number),
      ]);
      expect([...memories].at(-1)?.byteLength).toBeLessThanOrEqual(LONG.size - 2 * LONG.reserved + 65_536 * 2);
    });
  }
});

describe('two callers whose responses come at the same time', () => {
  for (const [how, framing] of Object.entries(FRAMINGS)) {
    for (const isTls of [false, true]) {
      proves('choice.backend.read-buffers', `keep their own bytes ${how}${isTls ? ' over TLS' : ''}`, async () => {
        const server = await scriptedServer(() => {}, isTls);
        const callers = [await caller(server, 'a'), await caller(server, 'b')] as const;
        for (const { socket } of callers) socket.write(framing.head);
        for (let n = 0; n < PIECES; n++) {
          for (const one of callers) {
            one.socket.write(framing.piece(textOf(one.letter, n)));
            await until(() => one.size() === (n + 1) * PIECE);
          }
        }
        for (const one of callers) one.socket.write(framing.end);
        for (const one of callers) {
          await one.done;
          // what was given in the first read is looked at after the last
          const got = one.pieces.map((piece) => piece.toString('latin1')).join('');
          expect(got).toBe(Array.from({ length: PIECES }, (_, n) => textOf(one.letter, n)).join(''));
        }
        expect(overlapping(callers[0].pieces, callers[1].pieces)).toBe(false);
      });

      proves('choice.backend.read-buffers', `keep their own heads ${how}${isTls ? ' over TLS' : ''}`, async () => {
        const server = await scriptedServer(() => {}, isTls);
        const callers = [await caller(server, 'a'), await caller(server, 'b')] as const;
        // half of a head waits while the other connection reads
        for (const { socket, letter } of callers) socket.write(`HTTP/1.1 307 Moved\r\nLocation: /${letter}`);
        for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
        for (const { socket, letter } of callers) socket.write(`${letter}\r\nContent-Length: 0\r\n\r\n`);
        for (const { letter, done } of callers) {
          expect((await done).head?.location).toBe(`/${letter}${letter}`);
        }
      });
    }
  }
});

/** The text of one piece; no two are equal. */
function textOf(letter: string, n: number): string {
  return `${letter}${n}`.repeat(PIECE / 2);
}

/** One request that is under way, and the socket it came on. */
async function caller(server: ScriptedServer, letter: string) {
  const pieces: Buffer[] = [];
  const react: Partial<ResponseReader> = { received: (_, bytes) => void pieces.push(bytes) };
  const { reader, done } = collect(react);
  pool(server).send({ method: 'POST', path: `/${letter}`, headers: {}, body: Buffer.from('{}') }, reader);
  const mine = () => server.heard.find(({ text }) => text.startsWith(`POST /${letter} `));
  await until(() => mine() !== undefined);
  const size = () => pieces.reduce((sum, { length }) => sum + length, 0);
  return { letter, pieces, done, size, socket: mine()?.socket as Socket };
}

const pools = new WeakMap<ScriptedServer, ReturnType<typeof poolTo>>();

/** One pool for both callers of a server. */
function pool(server: ScriptedServer) {
  const known = pools.get(server) ?? poolTo(server);
  pools.set(server, known);
  return known;
}

function overlapping(one: readonly Buffer[], other: readonly Buffer[]): boolean {
  return one.some((a) =>
    other.some(
      (b) => a.buffer === b.buffer && a.byteOffset < b.byteOffset + b.length && b.byteOffset < a.byteOffset + a.length,
    ),
  );
}
