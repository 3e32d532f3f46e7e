import { planSchema } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { messageUri, pathPrefix, type SseOptions } from '../../../../core/server/http-sse/message-uri.ts';
import { openEndpoint, rawRequest } from '../../../support/open-endpoint.ts';
import { connectSse } from '../../../support/sse-client.ts';

const uri = (headers: Record<string, string>, options: Partial<SseOptions> = {}): string =>
  messageUri({ path: '/sse', messagesPath: '/messages', ...options }, { host: '127.0.0.1:4483', ...headers }, 'ID');
const trusted = (headers: Record<string, string>, prefix?: string) => uri(headers, { prefix, trustForwarded: true });

const TAIL = '/messages?session_id=ID';
const ALL = {
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'tools.example.com',
  'x-forwarded-port': '8443',
  'x-forwarded-prefix': '/team',
};

/** Prefix option, forwarded headers, the result without trust, the result with trust. */
const TABLE: readonly [string | undefined, Record<string, string>, string, string][] = [
  [undefined, {}, TAIL, TAIL],
  ['/own', {}, `/own${TAIL}`, `/own${TAIL}`],
  ['/own/', {}, `/own${TAIL}`, `/own${TAIL}`],
  ['/own/sse', {}, `/own${TAIL}`, `/own${TAIL}`],
  ['/', {}, TAIL, TAIL],
  [undefined, { 'x-forwarded-prefix': '/team' }, TAIL, `/team${TAIL}`],
  [undefined, { 'x-forwarded-prefix': '/team/sse' }, TAIL, `/team${TAIL}`],
  [undefined, { 'x-forwarded-prefix': '/outer, /inner' }, TAIL, `/outer${TAIL}`],
  ['/own', { 'x-forwarded-prefix': '/team' }, `/own${TAIL}`, `/own${TAIL}`],
  [undefined, { 'x-forwarded-proto': 'https' }, TAIL, `https://127.0.0.1:4483${TAIL}`],
  [undefined, { 'x-forwarded-proto': 'HTTPS, http' }, TAIL, `https://127.0.0.1:4483${TAIL}`],
  [undefined, { 'x-forwarded-host': 'tools.example.com' }, TAIL, `http://tools.example.com${TAIL}`],
  [undefined, { 'x-forwarded-host': 'tools.example.com:81' }, TAIL, `http://tools.example.com:81${TAIL}`],
  [undefined, { 'x-forwarded-host': '[2001:db8::1]:81' }, TAIL, `http://[2001:db8::1]:81${TAIL}`],
  [undefined, { 'x-forwarded-port': '8080' }, TAIL, `http://127.0.0.1:8080${TAIL}`],
  [
    undefined,
    { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'a.b', 'x-forwarded-port': '443' },
    TAIL,
    `https://a.b${TAIL}`,
  ],
  [undefined, { 'x-forwarded-host': 'a.b:81', 'x-forwarded-port': '82' }, TAIL, `http://a.b:82${TAIL}`],
  [undefined, ALL, TAIL, `https://tools.example.com:8443/team${TAIL}`],
  ['/own', ALL, `/own${TAIL}`, `https://tools.example.com:8443/own${TAIL}`],
];

const HOSTILE: readonly [string, readonly string[]][] = [
  [
    'x-forwarded-prefix',
    [
      ...['//evil.test', '/\\evil.test', 'https://evil.test', 'evil', '/a//b', '/a/../b', '/..', '/.', '/a?b', '/a#b'],
      ...['/a%0d%0aevent: message', '/%2f%2fevil.test', '/a b', '/a\tb', '/a;b', '/é', `/${'a'.repeat(1_100)}`, ''],
    ],
  ],
  [
    'x-forwarded-host',
    [
      ...[
        'evil.test/path',
        'user@evil.test',
        'evil.test#',
        'evil.test?x',
        'a b',
        '//evil.test',
        '',
        ':80',
        '-',
        '[::1',
      ],
      ...['evil.test\\', '%65vil.test', 'a.b:99999', 'a.b:port', 'x'.repeat(300), `${'a.'.repeat(3_000)}test`],
    ],
  ],
  ['x-forwarded-proto', ['javascript', 'file', 'https://evil.test', 'https:', '', 'ws', 'h'.repeat(5_000)]],
  ['x-forwarded-port', ['0', '65536', '-1', '80/evil', '80@evil.test', '8e3', '١', '', '9'.repeat(5_000)]],
];

describe('the endpoint event', () => {
  it.each(TABLE)('with the prefix %s and %o', (prefix, headers, plain, followed) => {
    expect(uri(headers, { prefix })).toBe(plain);
    expect(trusted(headers, prefix)).toBe(followed);
  });

  it.each(HOSTILE)('ignores a malformed %s', (name, values) => {
    for (const value of values) {
      const given = trusted({ [name]: value });
      const expected = name === 'x-forwarded-host' && /^a\.b:/.test(value) ? [TAIL, `http://a.b${TAIL}`] : [TAIL];
      expect(expected, value).toContain(given);
    }
  });

  it('is one line whatever the headers hold', () => {
    const values = ['\r\n', '\n\ndata: x', '\0', '/a\r\nb', 'a\nb', '/\u2028'];
    for (const value of values) {
      const headers = Object.fromEntries(Object.keys(ALL).map((name) => [name, value]));
      expect(trusted({ ...headers, host: value }), JSON.stringify(value)).toBe(TAIL);
      expect(trusted({ 'x-forwarded-proto': 'https', host: value }), JSON.stringify(value)).toBe(TAIL);
    }
  });

  it('follows forwarded headers only when they are trusted', async () => {
    const paths = { path: '/sse', messagesPath: '/messages' };
    await using open = await openEndpoint({ sse: paths });
    using plain = await connectSse(`${open.origin}/sse`, ALL);
    expect(plain.endpoint).toMatch(/^\/messages\?session_id=[0-9a-f-]{36}$/);
    await using behind = await openEndpoint({ sse: { ...paths, trustForwarded: true } });
    using public_ = await connectSse(`${behind.origin}/sse`, ALL);
    expect(public_.endpoint).toMatch(/^https:\/\/tools\.example\.com:8443\/team\/messages\?session_id=[0-9a-f-]{36}$/);
    const { status } = await rawRequest(`${behind.origin}/sse`, 'GET', { host: 'evil.test', ...ALL });
    expect(status).toBe(403); // the Host of the request itself is checked as always
  });

  it('has a prefix that is a plain path', () => {
    const good = ['/', '/a', '/a/b-c_d.e~f', '/a/'];
    const bad = ['', 'a', '//a', '/a//b', '/../a', '/a%2e', '/a?b', 'https://evil.test/a', `/${'a'.repeat(1_100)}`];
    const read = (prefix: string) => planSchema.shape.endpoint.safeParse({ sse: { prefix } }).success;
    expect(good.filter((each) => !read(each) || pathPrefix(each) === undefined)).toEqual([]);
    expect(bad.filter(read)).toEqual([]);
  });
});
