import { describe, expect, it } from 'vitest';
import type { RequestControl } from '../../../core/http1/http-client.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';
import { CLIENTS, clientsOf, collect, plainAnswer, post, scriptedServer } from './scripted-server.ts';

describe.each(Object.entries(CLIENTS))('connections of the client %s to an origin', (name, create) => {
  const poolTo = clientsOf(create);
  proves(
    'choice.backend.http-connections',
    'are used one request after the other, and more only for more at once',
    async () => {
      const server = await scriptedServer(({ socket }, number) => void socket.write(plainAnswer(`answer ${number}`)));
      const pool = poolTo(server);
      for (let n = 1; n <= 3; n++) expect((await post(pool)).body).toBe(`answer ${n}`);
      expect(server.sockets).toHaveLength(1);
      await Promise.all([post(pool), post(pool), post(pool)]);
      expect(server.sockets).toHaveLength(3);
      await Promise.all([post(pool), post(pool)]);
      expect(server.sockets).toHaveLength(3);
      expect(pool.stats()).toEqual({ connections: 3, idle: 3 });
    },
  );

  it('send what HTTP/1.1 asks for, a body small or large as it is', async () => {
    const server = await scriptedServer(({ socket }) => void socket.write(plainAnswer('')));
    const pool = poolTo(server);
    const large = `"${'é'.repeat(100_000)}"`;
    for (const body of ['{"a":1}', large]) expect((await post(pool, body, { accept: 'x' })).error).toBeUndefined();
    const [small, big] = server.heard.map(({ text }) => text);
    const head = (length: number) =>
      `POST /mcp HTTP/1.1\r\nhost: ${server.url.host}\r\nconnection: keep-alive\r\naccept: x\r\ncontent-length: ${length}\r\n\r\n`;
    expect(small).toBe(`${head(7)}{"a":1}`);
    expect(big).toBe(`${head(large.length)}${large}`);
  });

  it('have a request without a body go without a length', async () => {
    const server = await scriptedServer(({ socket }) => void socket.write(plainAnswer('x')));
    const { reader, done } = collect();
    poolTo(server).send({ method: 'GET', path: '/mcp?a=b', headers: {}, body: undefined }, reader);
    expect((await done).body).toBe('x');
    expect(server.heard[0]?.text).toBe(
      `GET /mcp?a=b HTTP/1.1\r\nhost: ${server.url.host}\r\nconnection: keep-alive\r\n\r\n`,
    );
  });

  it('tell status and the headers that are read, whatever their case, interim answers skipped', async () => {
    // undici refuses a 100 that was not asked for; RFC 9110 §15.2 lets a client skip it
    const first = name === 'own' ? 'HTTP/1.1 100 Continue\r\n\r\n' : '';
    const interim = `${first}HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n`;
    const headers = 'CONTENT-TYPE:  text/event-stream; x=y \r\nmcp-Session-ID: s1\r\nLocation: /other\r\n';
    const server = await scriptedServer(({ socket }) => {
      socket.write(`${interim}HTTP/1.1 307 Moved\r\n${headers}Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n`);
    });
    const { head, body } = await post(poolTo(server, { keptHeaders: new Set(['mcp-session-id', 'x-absent']) }));
    const kept = ['mcp-session-id', 'x-absent', 'location'].map((name) => head?.header(name));
    expect(kept).toEqual(['s1', undefined, undefined]);
    expect(head).toMatchObject({
      status: 307,
      contentType: 'text/event-stream; x=y',
      location: '/other',
    });
    expect(body).toBe('');
  });

  it('read bodies with a length, in chunks, until the end of the connection, and none for 204', async () => {
    const answers = [
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;ext="a"\r\nhel\r\n2\r\nlo\r\n0\r\nTrailer: x\r\n\r\n',
      'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n',
      'HTTP/1.1 200 OK\r\n\r\nhello',
    ];
    const server = await scriptedServer(({ socket }, number) => {
      socket.write(answers[number - 1] ?? '');
      if (number === answers.length) socket.end();
    });
    const pool = poolTo(server);
    const bodies: string[] = [];
    for (const _ of answers) bodies.push((await post(pool)).body);
    expect(bodies).toEqual(['hello', 'hello', '', 'hello']);
    // undici closes a connection after a 204 with a length
    expect(server.sockets).toHaveLength(name === 'own' ? 1 : 2);
  });

  it('read an answer that arrives byte by byte', async () => {
    const answer = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA\r\n, dear all\r\n0\r\n\r\n';
    const server = await scriptedServer(async ({ socket }) => {
      socket.setNoDelay(true);
      for (const byte of answer) {
        socket.write(byte);
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    const pool = poolTo(server);
    for (let n = 0; n < 2; n++) expect((await post(pool)).body).toBe('hello, dear all');
    expect(server.sockets).toHaveLength(1);
  });

  it('carry a large body whole', async () => {
    const large = 'x'.repeat(3_000_000);
    const server = await scriptedServer(({ socket }) => void socket.write(plainAnswer(large)));
    expect((await post(poolTo(server))).body).toBe(large);
  });

  for (const [why, answer] of [
    ['the far side says so', plainAnswer('x', 'Connection: close\r\n')],
    ['the far side speaks HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx'],
    ['the far side closes idle ones within a second', plainAnswer('x', 'Keep-Alive: timeout=1\r\n')],
  ] as const) {
    proves('choice.backend.http-connections', `end after one answer when ${why}`, async () => {
      const server = await scriptedServer(({ socket }) => void socket.write(answer));
      const pool = poolTo(server);
      for (let n = 0; n < 2; n++) expect((await post(pool)).body).toBe('x');
      expect(server.sockets).toHaveLength(2);
      await until(() => server.sockets.every((socket) => socket.readableEnded || socket.destroyed));
    });
  }

  proves('choice.backend.http-connections', 'are closed after their idle time, before the far side does', async () => {
    const server = await scriptedServer(({ socket }) => void socket.write(plainAnswer('x')));
    const pool = poolTo(server, { keepAliveMs: 50 });
    await post(pool);
    await until(() => server.sockets[0]?.readableEnded === true);
    expect((await post(pool)).body).toBe('x');
    expect(server.sockets).toHaveLength(2);
  });

  it('that the far side closed while idle are not used again', async () => {
    const server = await scriptedServer(({ socket }) => void socket.write(plainAnswer('x')));
    const pool = poolTo(server);
    await post(pool);
    server.sockets[0]?.end();
    await until(() => server.sockets[0]?.closed === true);
    expect((await post(pool)).body).toBe('x');
    expect(server.sockets).toHaveLength(2);
  });

  it('fail with what is known: refused, closed early, not HTTP', async () => {
    const server = await scriptedServer(({ socket }, number) => {
      if (number === 1) socket.destroy();
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe', () => socket.destroy());
    });
    const pool = poolTo(server);
    expect(await post(pool)).toMatchObject({ isSent: true, error: { code: 'ECONNRESET' } });
    expect(await post(pool)).toMatchObject({ body: 'he', error: { code: 'ECONNRESET' } });
    const tlsServer = await scriptedServer(() => {});
    const refused = poolTo({ url: new URL('http://127.0.0.1:1'), ca: tlsServer.ca });
    expect(await post(refused)).toMatchObject({ isSent: false, error: { code: 'ECONNREFUSED' } });
  });

  it('give up connecting in time', async () => {
    // 192.0.2.0/24 is for documentation (RFC 5737): connections time out or fail immediately
    const pool = poolTo({ url: new URL('http://192.0.2.1:81'), ca: undefined }, { connectTimeoutMs: 100 });
    const { error, isSent } = await post(pool);
    expect(['ETIMEDOUT', 'ENETUNREACH', 'EHOSTUNREACH', 'ECONNREFUSED']).toContain(
      (error as NodeJS.ErrnoException).code,
    );
    expect(isSent).toBe(false);
  });

  it('are cut when a request is aborted, before it is written, while it waits and in the middle of its answer', async () => {
    const reason = new Error('no longer wanted');
    const server = await scriptedServer(({ socket }, number) => {
      if (number === 2) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf');
    });
    const pool = poolTo(server);
    const early = await post(pool, '{}', {}, { sending: (flow) => flow.abort(reason) });
    expect(early).toMatchObject({ isSent: false, error: reason });
    expect(server.heard).toHaveLength(0);
    const waiting = post(
      pool,
      '{}',
      {},
      { sending: (flow) => void until(() => server.heard.length === 1).then(() => flow.abort(reason)) },
    );
    expect(await waiting).toMatchObject({ isSent: true, error: reason });
    const half = await post(pool, '{}', {}, { received: (flow) => flow.abort(reason) });
    expect(half).toMatchObject({ body: 'half', error: reason });
    await until(() => server.sockets.every(({ closed }) => closed));
  });

  it('leave the next request alone when an earlier one is aborted, paused or resumed too late', async () => {
    const server = await scriptedServer(({ socket }, number) => {
      if (number === 1) socket.write(plainAnswer('first'));
    });
    const pool = poolTo(server);
    let first: RequestControl | undefined;
    await post(
      pool,
      '{}',
      {},
      {
        sending: (flow) => {
          first = flow;
        },
      },
    );
    const second = post(pool);
    await until(() => server.heard.length === 2);
    first?.pause();
    first?.abort(new Error('too late'));
    server.heard[1]?.socket.write(plainAnswer('second'));
    expect((await second).body).toBe('second');
    expect(server.sockets).toHaveLength(1);
  });

  it('rest while their reader does', async () => {
    const server = await scriptedServer(({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n`);
      const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
      for (let n = 0; n < 400; n++) socket.write(chunk);
      socket.write('0\r\n\r\n');
    });
    let steering: { pause(): void; resume(): void } | undefined;
    let bytes = 0;
    const answer = post(
      poolTo(server),
      '{}',
      {},
      {
        received: (flow, chunk) => {
          bytes += chunk.length;
          if (steering !== undefined) return;
          steering = flow;
          flow.pause();
        },
      },
    );
    await until(() => steering !== undefined && (server.heard[0]?.socket.writableLength ?? 0) > 0);
    const before = bytes;
    for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve));
    expect(bytes).toBe(before);
    steering?.resume();
    expect((await answer).body.length).toBe(400 * 65_536);
  });

  it('are over TLS with the certificates given, and with no others', async () => {
    const server = await scriptedServer(({ socket }) => void socket.write(plainAnswer('secret')), true);
    const pool = poolTo(server);
    for (let n = 0; n < 2; n++) expect((await post(pool)).body).toBe('secret');
    expect(server.sockets).toHaveLength(1);
    const stranger = await post(poolTo({ url: server.url, ca: undefined }));
    expect(stranger.isSent).toBe(false);
    expect((stranger.error as NodeJS.ErrnoException).code).toMatch(/CERT|SIGNATURE/);
  });

  it('are over when the pool is: at once, or when the last answer is complete', async () => {
    const server = await scriptedServer(({ socket }, number) => {
      if (number === 2) socket.write(plainAnswer('late'));
    });
    const cut = poolTo(server);
    const first = post(cut);
    await until(() => server.heard.length === 1);
    await cut.destroy();
    expect((await first).error?.message).toContain('closed');
    const patient = poolTo(server);
    const second = post(patient);
    const closed = patient.close();
    expect((await second).body).toBe('late');
    await closed;
    expect((await post(patient)).isSent).toBe(false);
    await until(() => server.sockets.every((socket) => socket.closed || socket.readableEnded));
  });

  it('outlive a reader that throws, as a request that failed', async () => {
    const server = await scriptedServer(({ socket }) => void socket.write(plainAnswer('x')));
    const pool = poolTo(server);
    const outcome = await post(
      pool,
      '{}',
      {},
      {
        answered: () => {
          throw new Error('reader broke');
        },
      },
    );
    expect(outcome.error?.message).toBe('reader broke');
    expect((await post(pool)).body).toBe('x');
  });
});
