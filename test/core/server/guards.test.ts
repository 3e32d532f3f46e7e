import type { RouteAnswer } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import type { RouteMethod, RouteOptions } from '../../../core/contract/route.ts';
import { createGuard, type GuardOptions, preflightHeaders } from '../../../core/server/http/origin.ts';
import { modernRequest, openEndpoint, post, postModern, rawRequest, routesOf } from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';

const LOOPBACK: GuardOptions = { allowedHosts: undefined, allowedOrigins: ['https://app.example.com'], loopback: true };
const list = modernRequest('tools/list');

describe('the guard', () => {
  const refused = (headers: Record<string, string>, options = LOOPBACK) => 'refused' in createGuard(options)(headers);

  proves(
    ['choice.wire.missing-origin', 'choice.wire.invalid-origin', 'choice.wire.null-origin'],
    'knows origins',
    () => {
      const host = 'localhost:1';
      expect(refused({ host })).toBe(false);
      expect(refused({ host, origin: 'https://APP.example.com' })).toBe(false);
      const bad = [
        'http://localhost:6274', // a configured list replaces the default
        'null',
        '',
        'http://evil.test',
        'http://localhost.evil.test',
        'http://evil.test/http://localhost',
        'http://localhost:1, http://evil.test',
        'http://127.0.0.1.evil.test',
        'http://app.example.com',
        'https://app.example.com:444',
        'file://localhost',
      ];
      for (const origin of bad) expect(refused({ host, origin }), origin).toBe(true);
    },
  );

  proves(
    ['choice.wire.own-origin', 'choice.wire.local-pages'],
    'accepts its own pages and MCP Inspector, and no page of another port of this machine',
    () => {
      const open = { loopback: true };
      for (const host of ['localhost:4483', '127.0.0.1:4483', '[::1]:4483']) {
        for (const origin of ['http://localhost:4483', 'http://127.0.0.1:4483', 'https://[::1]:4483']) {
          expect(refused({ host, origin }, open), `${origin} at ${host}`).toBe(false);
        }
        expect(refused({ host, origin: 'http://localhost:6274' }, open)).toBe(false);
        for (const origin of [
          'http://localhost:5173',
          'http://127.0.0.1',
          'http://localhost:4483/',
          'file://localhost:4483',
        ]) {
          expect(refused({ host, origin }, open), `${origin} at ${host}`).toBe(true);
        }
      }
      expect(refused({ host: 'localhost', origin: 'http://localhost' }, open)).toBe(false);
      expect(refused({ host: 'localhost', origin: 'http://localhost:443' }, open)).toBe(true);
    },
  );

  proves('choice.wire.own-origin', 'takes a name for its own only when it checks names, against DNS rebinding', () => {
    const [host, origin] = ['gw.example.com:80', 'http://gw.example.com'];
    expect(refused({ host, origin }, { loopback: false })).toBe(true);
    expect(refused({ host, origin }, { loopback: false, allowedHosts: ['gw.example.com'] })).toBe(false);
    expect(
      refused(
        { host: 'gw.example.com', origin: 'https://gw.example.com' },
        { loopback: false, allowedHosts: ['gw.example.com'] },
      ),
    ).toBe(false);
    expect(refused({ host: '192.0.2.7:4483', origin: 'http://192.0.2.7:4483' }, { loopback: false })).toBe(false);
    expect(refused({ host: '192.0.2.7:4483', origin: 'http://192.0.2.8:4483' }, { loopback: false })).toBe(true);
  });

  proves('choice.wire.origin-option', 'says which option allows an origin', () => {
    const verdict = (options: GuardOptions) =>
      createGuard(options)({ host: 'localhost:1', origin: 'http://localhost:2' });
    expect(verdict(LOOPBACK)).toEqual({ refused: 'this Origin is not allowed: add it to endpoint.allowedOrigins' });
    const refusal = 'this Origin is not allowed: add it to --allowed-origins';
    expect(verdict({ ...LOOPBACK, originOption: '--allowed-origins' })).toEqual({ refused: refusal });
  });

  proves('choice.wire.invalid-host', 'knows hosts', () => {
    for (const host of ['localhost', 'LOCALHOST:80', '127.0.0.1:4483', '127.1.2.3', '[::1]:4483', '[::1]']) {
      expect(refused({ host }), host).toBe(false);
    }
    for (const host of ['evil.test', 'localhost.evil.test', '127.0.0.1.evil.test:80', '', '[::2]', 'localhost.']) {
      expect(refused({ host }), host).toBe(true);
    }
    expect(refused({})).toBe(true);
    const open = { loopback: false };
    expect(refused({ host: 'any.test' }, open)).toBe(false);
    const listed = { allowedHosts: ['Gw.example.com', 'other.test:99'], allowedOrigins: [], loopback: false };
    expect(refused({ host: 'gw.example.com:443' }, listed)).toBe(false);
    expect(refused({ host: 'other.test:99' }, listed)).toBe(false);
    expect(refused({ host: 'other.test:98' }, listed)).toBe(true);
    expect(refused({ host: 'localhost' }, listed)).toBe(true);
  });

  proves(
    ['choice.wire.invalid-origin', 'choice.wire.null-origin', 'choice.wire.invalid-host'],
    'answers 403 on every method and path',
    async () => {
      await using open = await openEndpoint();
      const forged: readonly Record<string, string>[] = [
        { origin: 'http://evil.test' },
        { origin: 'null' },
        { host: 'evil.test' },
      ];
      for (const path of ['/mcp', '/health', '/.well-known/oauth-protected-resource', '/nowhere']) {
        for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS', 'PUT']) {
          for (const headers of forged) {
            const reply = await rawRequest(`${open.origin}${path}`, method, headers);
            expect([path, method, reply.status]).toEqual([path, method, 403]);
            expect(reply.headers['content-type']).toBe('application/problem+json');
          }
        }
      }
      expect(open.service.seen).toEqual([]);
    },
  );
});

describe('a browser', () => {
  it('gets its preflight answered without authentication, and only from an allowed origin', async () => {
    await using open = await openEndpoint({ allowedOrigins: ['https://app.example.com'] });
    open.service.identifyBy = () => undefined;
    const asked = 'content-type, mcp-param-region, mcp-method, x-other';
    const reply = await fetch(open.url, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers': asked,
      },
    });
    expect(reply.status).toBe(204);
    expect(reply.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
    const allowed = reply.headers.get('access-control-allow-headers')?.toLowerCase() ?? '';
    for (const name of [
      'mcp-session-id',
      'mcp-protocol-version',
      'mcp-method',
      'mcp-name',
      'last-event-id',
      'mcp-param-region',
    ]) {
      expect(allowed).toContain(name);
    }
    expect(allowed).not.toContain('x-other');
    expect(allowed).not.toContain('*');
  });

  it('may read the session id and the challenge of any answer', async () => {
    await using open = await openEndpoint();
    const origin = 'http://localhost:6274';
    const reply = await post(open.url, list.body, { ...list.headers, origin });
    expect(reply.headers.get('access-control-allow-origin')).toBe(origin);
    expect(reply.headers.get('access-control-expose-headers')).toBe('Mcp-Session-Id, WWW-Authenticate');
    expect(reply.headers.get('vary')).toBe('Origin');
    const refused = await post(open.url, list.body, { ...list.headers, origin, authorization: 'Basic x' });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, origin]);
  });

  it('cannot smuggle header names through the preflight', () => {
    const { 'access-control-allow-headers': allowed } = preflightHeaders(
      'mcp-param-a\r\nx: y, mcp-param-ok, mcp-param-',
    );
    expect(allowed).toContain('mcp-param-ok');
    expect(allowed).not.toContain('x: y');
  });
});

describe('authentication', () => {
  proves('choice.error.unauthenticated', 'comes before the body is read', async () => {
    await using open = await openEndpoint();
    for (const body of [list.body, '{"torn']) {
      const reply = await post(open.url, body, { ...list.headers, authorization: 'Basic dXNlcg==' });
      expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    }
  });

  it('answers a refusal with its own headers', async () => {
    await using open = await openEndpoint();
    const reply = await post(open.url, list.body, { ...list.headers, authorization: 'Bearer expired' });
    expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"']);
    expect(reply.json.error).toEqual({ code: 401, message: 'the token has expired' });
    open.service.identifyBy = () => ({ refused: true, status: 429, reason: 'slow down', retryAfterMs: 2100 });
    const limited = await post(open.url, list.body, list.headers);
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '3']);
    open.service.identifyBy = () => ({ refused: true, status: 503, reason: 'ask again', retryAfterMs: 5000 });
    const undecided = await post(open.url, list.body, list.headers);
    expect([undecided.status, undecided.headers.get('retry-after')]).toEqual([503, '5']);
    expect(undecided.json.error).toEqual({ code: 503, message: 'ask again', data: { retryAfterSeconds: 5 } });
  });

  it('that fails refuses every request without a reason', async () => {
    await using open = await openEndpoint();
    open.service.identifyBy = () => {
      throw new Error('secret: db-password');
    };
    const reply = await postModern(open.url, 'tools/list');
    expect(reply.status).toBe(500);
    expect(reply.text).not.toContain('db-password');
    expect(open.service.seen).toEqual([]);
    expect(open.logged.at(-1)?.level).toBe('error');
  });
});

describe('routes', () => {
  it('are served beside the endpoint, by exact path and method', async () => {
    const routes = answering(
      [
        'GET',
        '/health',
        (_inbound, _body, to) => to.send(200, { 'content-type': 'application/json' }, '{"status":"ok"}'),
      ],
      ['POST', '/echo', (_inbound, body, to) => to.send(200, {}, body)],
      ['GET', '/broken', () => Promise.reject(new Error('secret detail'))],
    );
    await using open = await openEndpoint({ routes, limits: { bodyBytes: 1024 } });
    const health = await fetch(`${open.origin}/health?deep=1`);
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
    expect((await fetch(`${open.origin}/health`, { method: 'HEAD' })).status).toBe(200);
    const wrong = await fetch(`${open.origin}/health`, { method: 'POST' });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(await (await fetch(`${open.origin}/echo`, { method: 'POST', body: 'hello' })).text()).toBe('hello');
    expect((await fetch(`${open.origin}/echo`, { method: 'POST', body: 'x'.repeat(2000) })).status).toBe(413);
    const broken = await fetch(`${open.origin}/broken`);
    expect([broken.status, (await broken.text()).includes('secret')]).toEqual([500, false]);
  });

  it('may be all paths of one segment below a path; an exact path wins', async () => {
    const routes = routesOf((table) => {
      table.addBelow('GET', '/pages', ({ path }, _body, to) => to.send(200, {}, path));
      table.add('GET', '/pages/own', (_inbound, _body, to) => to.send(200, {}, 'own'));
    });
    await using open = await openEndpoint({ routes });
    const answerAt = async (path: string) => {
      const answer = await fetch(`${open.origin}${path}`);
      return answer.status === 200 ? answer.text() : answer.status;
    };
    const found = await Promise.all(['/pages/a', '/pages/own', '/pages', '/pages/', '/pages/a/b', '/a'].map(answerAt));
    expect(found).toEqual(['/pages/a', 'own', 404, 404, 404, 404]);
  });

  it('may allow origins of their own: any without cookies, or some by name', async () => {
    const answer: RouteAnswer = (_inbound, _body, to) => to.send(200, { 'set-cookie': ['a=1', 'b=2'] }, 'ok');
    const routes = answering(
      ['POST', '/any', answer, { origins: 'any' }],
      ['POST', '/some', answer, { origins: ['https://a.example'] }],
      ['POST', '/none', answer],
    );
    await using open = await openEndpoint({ routes });
    const ask = async (path: string, origin: string, method = 'POST') => {
      const headers = { origin, 'access-control-request-method': 'POST' };
      const { status, headers: given } = await fetch(`${open.origin}${path}`, { method, headers });
      return [status, given.get('access-control-allow-origin'), given.getSetCookie().length];
    };
    expect(await ask('/any', 'https://b.example')).toEqual([200, '*', 2]);
    expect(await ask('/any', 'https://b.example', 'OPTIONS')).toEqual([204, '*', 0]);
    expect(await ask('/some', 'https://a.example')).toEqual([200, 'https://a.example', 2]);
    expect(await ask('/some', 'https://b.example')).toEqual([403, null, 0]);
    expect(await ask('/none', 'https://a.example')).toEqual([403, null, 0]);
  });

  proves('choice.endpoint.protected-resource-404', 'answer a JSON 404 where nothing is mounted', async () => {
    await using open = await openEndpoint();
    for (const path of [
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/mcp',
      '/x',
      '/mcp/',
    ]) {
      const reply = await fetch(`${open.origin}${path}`);
      expect([path, reply.status]).toEqual([path, 404]);
      expect(await reply.json()).toMatchObject({ status: 404, code: 'ROUTE_UNKNOWN' });
    }
  });
});

function answering(...mounted: readonly (readonly [RouteMethod, string, RouteAnswer, RouteOptions?])[]) {
  return routesOf((table) => {
    for (const [method, path, answer, options] of mounted) table.add(method, path, answer, options);
  });
}
