import { createRemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import { remoteUrlProblem } from '@toolmgr/plugins/kit/safe-http/addresses';
import { describe, expect, it } from 'vitest';
import { certificates } from '../../../support/certificates.ts';
import { loopbackServer } from '../../../support/loopback-server.ts';
import { proves } from '../../../support/proves.ts';

const OPEN = { allowHttp: true, allowPrivateAddresses: true } as const;

describe('the client of configured URLs', () => {
  it('sends a request and reads the complete response with any status', async () => {
    await using server = await loopbackServer((request, response) => {
      request.setEncoding('utf8');
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => response.writeHead(400, { 'x-kind': 'odd' }).end(`${request.method} ${body}`));
    });
    const http = createRemoteHttp(OPEN);
    const answer = await http.send(server.url, { method: 'POST', body: 'a=b', headers: { 'x-a': 'b' } });
    expect([answer.status, answer.headers['x-kind'], String(answer.body)]).toEqual([400, 'odd', 'POST a=b']);
    await http.close();
  });

  it('reads a JSON object, and reports other responses without quoting them', async () => {
    await using server = await loopbackServer((request, response) => {
      const bodies: Record<string, string> = { '/good': '{"a":1}', '/torn': '{"secret-of-theirs":', '/list': '[1]' };
      const body = bodies[(request.url ?? '').replace(/\?.*/, '')];
      response.writeHead(body === undefined ? 500 : 200).end(body ?? 'secret-of-theirs');
    });
    const http = createRemoteHttp(OPEN);
    expect(await http.getJson(`${server.url}/good`)).toEqual({ a: 1 });
    for (const [path, why] of [
      ['/torn', 'not a JSON object'],
      ['/list', 'not a JSON object'],
      ['/away', 'status 500'],
    ] as const) {
      const failure = await http.getJson(`${server.url}${path}?token=secret-of-ours`).catch((cause) => cause);
      expect(failure).toMatchObject({ code: 'REMOTE_UNAVAILABLE', message: expect.stringContaining(why) });
      expect(failure.message).toContain(path);
      expect(`${failure.message} ${failure.cause ?? ''}`).not.toContain('secret-of');
    }
    await http.close();
  });

  it('stops an aborted request', async () => {
    await using server = await loopbackServer(() => {});
    const http = createRemoteHttp(OPEN);
    const given = new AbortController();
    const sent = http.send(server.url, { signal: given.signal }).catch((cause) => cause);
    given.abort(new Error('the client has gone'));
    expect(await sent).toMatchObject({
      code: 'REMOTE_UNAVAILABLE',
      message: expect.stringContaining('the client has gone'),
    });
    await http.close();
  });

  it('reports a refused connection', async () => {
    const server = await loopbackServer(() => {});
    await server[Symbol.asyncDispose]();
    const http = createRemoteHttp(OPEN);
    const failure = await http.send(server.url).catch((cause) => cause);
    expect(failure).toMatchObject({ code: 'REMOTE_UNAVAILABLE', message: expect.stringContaining('ECONNREFUSED') });
    await http.close();
  });
});

describe('certificates of a private authority', () => {
  proves('choice.remote.ca-bundle', 'are believed with the bundle that names it, and not without', async () => {
    const made = certificates();
    await using server = await loopbackServer((_request, response) => response.end('{"ok":true}'), made);
    const trusting = createRemoteHttp({ allowPrivateAddresses: true, ca: made.ca });
    const doubting = createRemoteHttp({ allowPrivateAddresses: true });
    const other = createRemoteHttp({ allowPrivateAddresses: true, ca: certificates().ca });
    expect(await trusting.getJson(server.url)).toEqual({ ok: true });
    expect(await trusting.getJson(`https://localhost:${server.port}`)).toEqual({ ok: true });
    for (const http of [doubting, other]) {
      await expect(http.getJson(server.url)).rejects.toMatchObject({ code: 'REMOTE_UNAVAILABLE' });
    }
    await Promise.all([trusting.close(), doubting.close(), other.close()]);
  });
});

describe('a configured URL', () => {
  it('is judged before anything is sent', () => {
    const says = (url: string, rules = {}) => remoteUrlProblem(url, rules);
    expect(says('https://issuer.example/realms/a')).toBeUndefined();
    expect(says('http://issuer.example', { allowHttp: true })).toBeUndefined();
    expect(says('http://127.0.0.1', OPEN)).toBeUndefined();
    expect(says('issuer.example')).toBe('expected an absolute URL');
    expect(says('file:///etc/passwd', OPEN)).toBe('expected a URL that starts with https://');
    expect(says('http://issuer.example')).toBe('expected https; plain http is not allowed');
    expect(says('https://ada:word@issuer.example')).toBe('expected a URL without user name and password');
    expect(says('https://10.0.0.1/jwks')).toBe('leads to a private address, which is not allowed');
  });
});
