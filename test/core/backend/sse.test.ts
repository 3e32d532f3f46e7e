import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { type Got, httpBackend, httpServer, type Message, managerWith, openStream, send, textOf } from './support.ts';

/** A server of the 2024-11-05 transport; `odd` may write to the stream before the usual answer. */
async function sseServer(odd: (message: Message, stream: Got['response']) => boolean | undefined = () => undefined) {
  const streams: Got['response'][] = [];
  const server = await httpServer((got) => {
    if (got.method === 'GET') {
      openStream(got.response);
      got.response.write(`event: endpoint\ndata: /messages?stream=${streams.push(got.response) - 1}\n\n`);
      return;
    }
    got.response.writeHead(202).end('Accepted');
    const stream = streams[Number(new URL(got.path, 'http://x').searchParams.get('stream'))];
    const { message } = got;
    if (stream === undefined || message?.id === undefined || odd(message, stream) === true) return;
    const results: Record<string, unknown> = {
      initialize: {
        protocolVersion: '2024-11-05',
        capabilities: { tools: {} },
        serverInfo: { name: 's', version: '1' },
      },
      'tools/list': { tools: [{ name: 'echo', inputSchema: {} }] },
      'tools/call': { content: [{ type: 'text', text: 'over sse' }] },
    };
    const answer = { jsonrpc: '2.0', id: message.id, result: results[message.method ?? ''] };
    stream.write(`event: message\ndata: ${JSON.stringify(answer)}\n\n`);
  });
  const backend = { name: 'far', transport: 'sse', url: server.url } as const;
  return { ...server, backend, streams };
}

const CALL = { backend: 'far', original: 'echo' } as const;

describe('the old SSE transport', () => {
  proves('choice.probe.sse-legacy', 'is never probed', async () => {
    const server = await sseServer();
    const { manager } = await managerWith([server.backend]);
    expect(manager.eraOf('far')).toBe('2025-11-25');
    expect(server.of('server/discover')).toHaveLength(0);
    expect(textOf(await send(manager, CALL))).toBe('over sse');
    expect(server.of('tools/call')[0]?.path).toBe('/messages?stream=1');
  });

  it('posts to its own origin only', async () => {
    const server = await httpServer((got) => {
      openStream(got.response);
      got.response.write('event: endpoint\ndata: http://example.com/messages\n\n');
    });
    const { manager } = await managerWith([{ name: 'far', transport: 'sse', url: server.url }]);
    expect(manager.states()[0]).toMatchObject({ status: 'unavailable', cause: { category: 'protocol' } });
    expect(server.all.every((got) => got.method === 'GET')).toBe(true);
  });

  it('skips events that are not messages, with a warning', async () => {
    const server = await sseServer((message, stream) => {
      if (message.method === 'tools/call') stream.write('data: {"broken\n\n');
      return false;
    });
    const { manager, lines } = await managerWith([server.backend]);
    expect(textOf(await send(manager, CALL))).toBe('over sse');
    expect(lines.some(({ message }) => message.includes('not MCP messages'))).toBe(true);
  });

  it('fails the call whose stream breaks and opens another for the next', async () => {
    let broken = false;
    const server = await sseServer((message, stream) => {
      if (message.method !== 'tools/call' || broken) return false;
      broken = true;
      stream.destroy();
      return true;
    });
    const { manager } = await managerWith([server.backend]);
    await expect(send(manager, CALL)).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    expect(textOf(await send(manager, CALL))).toBe('over sse');
    expect(server.of('tools/call')).toHaveLength(2);
  });

  it('is found again when the stream that lists breaks', async () => {
    const server = await sseServer();
    const { manager } = await managerWith([server.backend]);
    server.streams[0]?.destroy();
    await until(() => server.of('initialize').length === 2);
    await until(() => manager.states()[0]?.status === 'ready');
  });

  it('stops while a stream is being opened', async () => {
    const server = await httpServer((got) => openStream(got.response));
    const { manager } = await managerWith([{ name: 'far', transport: 'sse', url: server.url }], {
      limits: { discoveryMs: 50 },
    });
    const startedMs = Date.now();
    await manager.stop();
    expect(Date.now() - startedMs).toBeLessThan(2_000);
  });
});

describe('a backend over TLS', () => {
  const openssl = spawnSync('openssl', ['version']).status === 0;

  it.skipIf(!openssl)('is trusted with the CA file of its description, and not without', async () => {
    const folder = temporaryFolder('backend-tls');
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
        '-keyout',
        key,
        '-out',
        cert,
        ...subject,
      ],
      { stdio: 'ignore' },
    );
    const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) =>
      response.writeHead(401).end(),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `https://localhost:${(server.address() as AddressInfo).port}/mcp`;
    const { manager } = await managerWith([
      httpBackend(url, { name: 'distrusted' }),
      httpBackend(url, { name: 'lost', caBundlePath: join(folder, 'none.pem') }),
      httpBackend(url, { name: 'trusted', caBundlePath: cert }),
    ]);
    expect(manager.states().map(({ backend, cause }) => `${backend.name} ${cause?.category}`)).toEqual([
      'distrusted tls',
      'lost tls',
      'trusted unauthenticated',
    ]);
  });
});
