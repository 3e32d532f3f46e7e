import { ANONYMOUS, type Backend } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { HttpTarget, NEVER } from '../../../core/backend/transports/http-target.ts';
import type { HttpClientFactory } from '../../../core/http1/http-client.ts';
import { CLIENTS, scriptedServer } from '../http1/scripted-server.ts';

const REQUEST = { method: 'POST', caller: ANONYMOUS, purpose: 'call', signal: NEVER } as const;
const EMPTY = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

function targetOf(url: string, more: Partial<Backend>, create: HttpClientFactory): HttpTarget {
  const backend: Backend = { name: 'far', transport: 'streamable-http', url, ...more };
  return new HttpTarget(backend, { authorizer: { apply() {} } }, {}, create);
}

/** The status of a response, or the code of the error. */
function outcomeOf(target: HttpTarget): Promise<number | string> {
  return new Promise((resolve) => {
    const reader = {
      flow: undefined,
      isWithdrawn: false,
      answered: (_: unknown, { status }: { readonly status: number }) => resolve(status),
      received() {},
      ended() {},
      failed: (error: Error) => resolve((error as { readonly code?: string }).code ?? error.message),
    };
    target.send({ ...REQUEST, headers: {} }, reader, (cause) => resolve(cause.message));
  });
}

describe.each(Object.entries(CLIENTS))('a backend whose addresses are restricted, client %s', (_name, create) => {
  it.each([false, true])('gets no connection when its name leads to this machine (TLS: %s)', async (isTls) => {
    const server = await scriptedServer(({ socket }) => socket.end(EMPTY), isTls);
    const url = `${isTls ? 'https' : 'http'}://localhost:${server.url.port}/mcp`;
    for (const addresses of ['public', 'network'] as const) {
      const target = targetOf(url, { addresses }, create);
      expect(await outcomeOf(target)).toBe('ADDRESS_FORBIDDEN');
      target.closePooledConnections();
      expect(await outcomeOf(target)).toBe('ADDRESS_FORBIDDEN');
      await target.close();
    }
    expect(server.sockets).toHaveLength(0);
  });

  it('is not restricted without the setting', async () => {
    const server = await scriptedServer(({ socket }) => socket.end(EMPTY));
    const target = targetOf(`http://localhost:${server.url.port}/mcp`, {}, create);
    expect(await outcomeOf(target)).toBe(200);
    await target.close();
  });

  it('does not follow a redirect, or an event with a path, to another host', async () => {
    const target = targetOf('https://far.example/mcp', { addresses: 'public' }, create);
    for (const location of ['http://169.254.169.254/latest', 'https://localhost/mcp', '//10.0.0.1/mcp']) {
      expect(target.moved(307, location)).toBe(false);
      expect(target.pathWithin(location)).toBeUndefined();
    }
    await target.close();
  });
});
