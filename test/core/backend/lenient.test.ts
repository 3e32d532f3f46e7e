import { brotliCompressSync, createGzip, deflateRawSync, deflateSync, gzipSync, constants as zlib } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { proves } from '../../support/proves.ts';
import {
  answer,
  type Got,
  httpBackend,
  httpServer,
  json,
  legacyAnswers,
  managerWith,
  openStream,
  send,
  textOf,
} from './support.ts';

const CALL = { backend: 'far', original: 'echo' } as const;

/** A backend manager with a server that answers `tools/call` with a function of the test, and with changed limits. */
async function calling(
  call: (got: Got) => void,
  limits: { readonly resultBytes?: number; readonly frameBytes?: number } = {},
) {
  const server = await httpServer(
    legacyAnswers({
      before: (got) => {
        if (got.message?.method !== 'tools/call') return false;
        call(got);
        return true;
      },
    }),
  );
  const { manager } = await managerWith([httpBackend(server.url)], { limits });
  return { manager, server };
}

const said = (got: Got, text: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: got.message?.id, result: { content: [{ type: 'text', text }] } });

const CODED = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  br: brotliCompressSync,
  deflate: deflateSync,
  'deflate without its header': deflateRawSync,
  identity: (text: Buffer) => text,
} as const;

const codingOf = (name: string): string => name.split(' ')[0] ?? '';

describe('a compressed answer', () => {
  for (const [name, code] of Object.entries(CODED)) {
    proves('choice.backend.content-coding', `is decoded from ${name}, as JSON and as an event stream`, async () => {
      const encoded = (got: Got, type: string, text: string): void => {
        got.response.writeHead(200, { 'content-type': type, 'content-encoding': codingOf(name) });
        got.response.end(code(Buffer.from(text)));
      };
      const long = 'ü'.repeat(200_000);
      const whole = await calling((got) => encoded(got, 'application/json', said(got, long)));
      expect(textOf(await send(whole.manager, CALL))).toBe(long);
      const events = await calling((got) => encoded(got, 'text/event-stream', `data: ${said(got, long)}\n\n`));
      expect(textOf(await send(events.manager, CALL))).toBe(long);
      // the connection is used again
      expect(textOf(await send(events.manager, CALL))).toBe(long);
    });
  }

  it('is read while its stream is open', async () => {
    const { manager } = await calling((got) => {
      got.response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
      const coder = createGzip();
      coder.pipe(got.response);
      coder.write(`data: ${said(got, 'early')}\n\n`);
      coder.flush(zlib.Z_SYNC_FLUSH);
    });
    expect(textOf(await send(manager, CALL))).toBe('early');
  });

  it('is decoded twice when it was encoded twice', async () => {
    const { manager } = await calling((got) => {
      const body = gzipSync(deflateSync(said(got, 'twice')));
      got.response
        .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'deflate, gzip' })
        .end(body);
    });
    expect(textOf(await send(manager, CALL))).toBe('twice');
  });

  for (const [type, limits] of [
    ['application/json', { resultBytes: 100_000 }],
    ['text/event-stream', { frameBytes: 100_000 }],
  ] as const) {
    proves('choice.backend.content-coding-bounded', `is bounded by what it decodes to: ${type}`, async () => {
      const bomb = gzipSync(Buffer.concat([Buffer.from('data: '), Buffer.alloc(50_000_000, 0x20)]));
      expect(bomb.length).toBeLessThan(100_000);
      const { manager } = await calling((got) => {
        got.response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' }).end(bomb);
      }, limits);
      await expect(send(manager, CALL)).rejects.toMatchObject({ code: 'BACKEND_TOO_LARGE' });
    });
  }

  it('of a refusal is decoded as far as it is looked at', async () => {
    const { manager } = await calling((got) => {
      got.response.writeHead(500, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      got.response.end(gzipSync(Buffer.alloc(50_000_000, 0x20)));
    });
    await expect(send(manager, CALL)).rejects.toMatchObject({ message: expect.stringContaining('500') });
    const { manager: other } = await calling((got) => {
      const body = { jsonrpc: '2.0', id: got.message?.id, error: { code: -32077, message: 'not today' } };
      got.response.writeHead(400, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      got.response.end(gzipSync(JSON.stringify(body)));
    });
    await expect(send(other, CALL)).rejects.toMatchObject({ code: -32077, message: 'not today' });
  });

  it.each([200, 400])('that is an error keeps all of its members with HTTP status %i', async (status) => {
    const { manager } = await calling((got) => {
      const error = { code: -32077, message: 'not today', retry: { afterMs: 5 } };
      const body = JSON.stringify({ jsonrpc: '2.0', id: got.message?.id, error });
      got.response.writeHead(status, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      got.response.end(gzipSync(body));
    });
    const members = Buffer.from('{"retry":{"afterMs":5}}');
    await expect(send(manager, CALL)).rejects.toMatchObject({ code: -32077, message: 'not today', members });
  });

  proves('choice.backend.error-members-bounded', 'that is an error must be UTF-8', async () => {
    for (const status of [200, 400]) {
      const { manager } = await calling((got) => {
        const head = `{"jsonrpc":"2.0","id":${got.message?.id},"error":{"code":-32077,"message":"no","x":"`;
        got.response.writeHead(status, { 'content-type': 'application/json' });
        got.response.end(Buffer.concat([Buffer.from(head), Buffer.from([0xff]), Buffer.from('"}}')]));
      });
      await expect(send(manager, CALL)).rejects.toMatchObject({ code: 'BACKEND_PROTOCOL' });
    }
  });

  it.each([
    ['zstd', Buffer.from('anything')],
    ['gzip', Buffer.from('{"not":"gzip"}')],
    ['gzip', gzipSync('{"jsonrpc":"2.0","cut":"off in the middle of it"}').subarray(0, 30)],
    ['gzip, gzip, gzip', Buffer.from('anything')],
  ])('that cannot be decoded is a failure: %s', async (coding, body) => {
    const { manager } = await calling((got) => {
      got.response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': coding }).end(body);
    });
    await expect(send(manager, CALL)).rejects.toThrow('sent a response with an invalid content coding');
  });
});

describe('an answer that is odd', () => {
  proves('choice.backend.lenient-id', 'counts when its id came back as text', async () => {
    const { manager } = await calling((got) => {
      const result = { content: [{ type: 'text', text: 'mine' }] };
      json(got.response, { jsonrpc: '2.0', id: String(got.message?.id), result });
    });
    expect(textOf(await send(manager, CALL))).toBe('mine');
    const { manager: other } = await calling((got) => {
      const error = { code: -32077, message: 'not today' };
      json(got.response, { jsonrpc: '2.0', id: String(got.message?.id), error }, 400);
    });
    await expect(send(other, CALL)).rejects.toMatchObject({ code: -32077 });
  });

  it('is an error as its code and message say, whatever else stands in it', async () => {
    const { manager } = await calling((got) => {
      const error = { code: -32077, message: 'not today', data: { a: 1 }, retryable: true, stack: ['x'] };
      json(got.response, { jsonrpc: '2.0', id: got.message?.id, error });
    });
    await expect(send(manager, CALL)).rejects.toMatchObject({ code: -32077, message: 'not today' });
  });

  proves('choice.backend.lenient-body', 'counts behind a byte order mark', async () => {
    const { manager } = await calling((got) => json(got.response, `\uFEFF${said(got, 'marked')}`));
    expect(textOf(await send(manager, CALL))).toBe('marked');
  });

  proves('choice.backend.lenient-body', 'counts behind an event that is no JSON', async () => {
    const { manager } = await calling((got) => {
      openStream(got.response);
      got.response.end(`data: connected\n\ndata: {"half":\n\ndata: ${said(got, 'after all')}\n\n`);
    });
    expect(textOf(await send(manager, CALL))).toBe('after all');
    const { manager: other } = await calling((got) => {
      openStream(got.response);
      got.response.end('data: connected\n\n');
    });
    await expect(send(other, CALL)).rejects.toThrow('sent something that is not an MCP message');
  });

  proves(
    'choice.backend.lenient-body',
    'counts with a value nested a thousand levels deep, and no deeper',
    async () => {
      const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
      const { manager } = await calling((got) => answer(got, `{"content":[],"_meta":{"x":${nested(990)}}}`));
      await expect(send(manager, CALL)).resolves.toBeDefined();
      const { manager: other } = await calling((got) => answer(got, `{"content":[],"_meta":{"x":${nested(1_001)}}}`));
      await expect(send(other, CALL)).rejects.toMatchObject({ code: 'BACKEND_PROTOCOL' });
    },
  );

  for (const version of [undefined, '1.0', 2, null]) {
    proves('choice.backend.jsonrpc', `is refused with ${JSON.stringify(version)} as its JSON-RPC version`, async () => {
      const result = { content: [{ type: 'text', text: 'no' }] };
      const { manager } = await calling((got) => json(got.response, { jsonrpc: version, id: got.message?.id, result }));
      await expect(send(manager, CALL)).rejects.toMatchObject({ code: 'BACKEND_PROTOCOL' });
    });
  }
});
