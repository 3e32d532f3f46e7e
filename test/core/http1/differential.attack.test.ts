import { describe, expect, it } from 'vitest';
import type { HttpClientFactory, RequestControl } from '../../../core/http1/http-client.ts';
import { MalformedResponse } from '../../../core/http1/response-head.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';
import { AMBIGUOUS, OK } from './ambiguous-responses.ts';
import { CLIENTS, clientsOf, type Outcome, plainAnswer, post, scriptedServer } from './scripted-server.ts';

/** Sends `bytes` for the first request and a sound response for every other one. */
async function serverOf(bytes: string) {
  return scriptedServer(({ socket }, number) => {
    socket.write(number === 1 ? Buffer.from(bytes, 'latin1') : plainAnswer('sound'));
  });
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe.each(Object.entries(CLIENTS))('a backend that breaks HTTP, with the client %s', (name, create) => {
  for (const { what, bytes, undici } of AMBIGUOUS) {
    const difference = name === 'undici' ? undici : undefined;
    if (difference === undefined) {
      proves('choice.backend.http-framing', `with ${what} is refused, and its connection is closed`, async () => {
        const server = await serverOf(bytes);
        const client = clientsOf(create)(server);
        expect((await post(client)).error).toBeInstanceOf(MalformedResponse);
        expect((await post(client)).body).toBe('sound');
        expect(server.sockets).toHaveLength(2);
        await until(() => server.sockets[0]?.closed === true);
      });
    } else if (difference.does === 'accept') {
      it(`with ${what} is accepted: ${difference.why}`, async () => {
        const outcome = await post(clientsOf(create)(await serverOf(bytes)));
        expect(outcome).toMatchObject({ head: { status: 200 }, error: undefined });
      });
    } else {
      it(`with ${what} keeps its request waiting: ${difference.why}`, async () => {
        let flow: RequestControl | undefined;
        const react = {
          sending(given: RequestControl) {
            flow = given;
          },
        };
        const waiting = post(clientsOf(create)(await serverOf(bytes)), '{}', {}, react);
        expect(await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 100, 'waits'))])).toBe(
          'waits',
        );
        flow?.abort(new Error('too late'));
        expect((await waiting).error?.message).toBe('too late');
      });
    }
  }
});

/** Whole responses, each of another framing. */
const SOUND: readonly (readonly [what: string, bytes: string])[] = [
  ['a length', plainAnswer('hello')],
  [
    'chunks with an extension and trailers',
    `${OK}Transfer-Encoding: chunked\r\n\r\n3;x="1"\r\nhel\r\n2\r\nlo\r\n0\r\nDigest: 1\r\n\r\n`,
  ],
  ['an interim response before it', `HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${plainAnswer('hello')}`],
  ['no reason phrase', 'HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello'],
  ['no body', 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n'],
  ['a head close to the limit', `${OK}X: ${'x'.repeat(30_000)}\r\nContent-Length: 5\r\n\r\nhello`],
];

describe('both clients', () => {
  it('do not send a request that is aborted before there is a connection, and say that it was not sent', async () => {
    const reason = new Error('not needed');
    const all = await withEach(async (create) => {
      const server = await scriptedServer(({ socket }) => void socket.write(plainAnswer('next')));
      const client = clientsOf(create)(server);
      const aborted = await post(client, '{}', {}, { sending: (flow) => flow.abort(reason) });
      expect(aborted.error).toBe(reason);
      expect((await post(client)).body).toBe('next');
      await client.close();
      expect(server.heard).toHaveLength(1);
      return aborted;
    });
    expect(summary(all.own)).toMatchObject({ status: undefined, body: '', isSent: false });
    expect(summary(all.undici)).toEqual(summary(all.own));
  });

  it('say that a request was sent when it is aborted later or its connection is closed', async () => {
    for (const isAborted of [true, false]) {
      const all = await withEach(async (create) => {
        const server = await scriptedServer(({ socket }) => void (isAborted || socket.destroy()));
        const abortLater = (flow: RequestControl) =>
          void until(() => server.heard.length === 1).then(() => flow.abort(new Error('not needed')));
        return post(clientsOf(create)(server), '{}', {}, isAborted ? { sending: abortLater } : {});
      });
      expect(all.own.isSent).toBe(true);
      expect(summary(all.undici)).toEqual(summary(all.own));
    }
  });

  it('say that a request was not sent when they are closed or the server is away', async () => {
    const closed = await withEach(async (create) => {
      const client = clientsOf(create)(await scriptedServer(() => {}));
      await client.close();
      return post(client);
    });
    const refused = await withEach((create) => post(clientsOf(create)({ url: AWAY, ca: undefined })));
    for (const all of [closed, refused]) {
      expect(all.own).toMatchObject({ isSent: false, error: expect.any(Error) });
      expect(summary(all.undici)).toEqual(summary(all.own));
    }
  });

  for (const [what, bytes] of SOUND) {
    it(`read a response with ${what} alike, wherever it is cut`, async () => {
      for (const cut of cutsOf(bytes)) {
        const outcomes = await withEach(async (create) => {
          const server = await scriptedServer(async ({ socket }) => {
            socket.setNoDelay(true);
            socket.write(bytes.slice(0, cut), 'latin1');
            await turn();
            socket.write(bytes.slice(cut), 'latin1');
          });
          return post(clientsOf(create)(server));
        });
        expect(outcomes.own).toMatchObject({ error: undefined });
        expect(summary(outcomes.undici)).toEqual(summary(outcomes.own));
      }
    });

    it(`fail alike when a response with ${what} ends too early, wherever it does`, async () => {
      for (const cut of cutsOf(bytes)) {
        const outcomes = await withEach(async (create) => {
          const server = await scriptedServer(({ socket }) => void socket.end(bytes.slice(0, cut), 'latin1'));
          return post(clientsOf(create)(server));
        });
        expect(outcomes.own.error).toMatchObject({ code: 'ECONNRESET' });
        expect({ cut, ...summary(outcomes.undici) }).toEqual({ cut, ...summary(outcomes.own) });
      }
    });
  }
});

/** Port 1 of the loopback refuses connections. */
const AWAY = new URL('http://127.0.0.1:1');

/** Every place in a short text; in a long one those near its ends. */
function cutsOf({ length }: string): readonly number[] {
  const all = Array.from({ length: length - 1 }, (_, n) => n + 1);
  return all.filter((at) => at < 40 || length - at < 40);
}

function summary({ head, body, error, isSent }: Outcome) {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return { status: head?.status, contentType: head?.contentType, body, code, isSent };
}

async function withEach(run: (create: HttpClientFactory) => Promise<Outcome>) {
  return { own: await run(CLIENTS.own), undici: await run(CLIENTS.undici) };
}
