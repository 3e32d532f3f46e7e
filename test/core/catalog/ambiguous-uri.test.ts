import { type Era, isAmbiguousUri } from '@toolmgr/core';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { cpuClock } from '../../support/cpu-clock.ts';
import { proves } from '../../support/proves.ts';

const DOTTED = [
  'docs://open/../secret',
  'docs://open/./secret',
  'docs://open/..',
  'docs://open/.',
  'docs:../secret',
  'docs://open/..?x=1',
  'docs://open/..#x',
  'docs://open/%2e%2e/secret',
  'docs://open/.%2E/secret',
  'docs://open/%2e',
  'docs://open/a%2eb',
  'docs://open/..%2fsecret',
  'docs://open%2F..%2Fsecret',
  'docs://open/..\\secret',
  'docs://open/..%5csecret',
  'docs://open/%252e%252e/secret',
  'docs://open/%25252e/secret',
  'docs://open/..%252fsecret',
  'docs://open/..;a=1/secret',
  'docs://open/.\t./secret',
  'docs://open/.%c0%ae/secret',
  'docs://open?path=../secret',
];
const ENCODED = [
  'docs://open/%73ecret',
  'docs://open/%2573ecret',
  'docs://open/a%2Db',
  'docs://open/a%5fb',
  'docs://open/%7Eada',
  'docs://open/%31',
  'docs://open/%5A',
  'docs://open/%6F',
];
/** What URL parsers drop, or file systems: the same place for them, another text for a policy. */
const DROPPED = [
  'docs://open/sec\tret',
  'docs://sec\nret',
  'docs://sec\rret/a',
  'docs://open/a\0',
  'docs://open/a\u007f',
  'docs://open/a ',
  'docs://open//secret',
  'docs:////secret',
  'docs://open/%2fsecret',
  'docs://open/a//',
];
/** Of schemes that URL parsers know. */
const OTHER_AUTHORITY = [
  'https://EXAMPLE.com/secret',
  'HTTPS://example.com/secret',
  'https://example.com:443/secret',
  'https://ada@example.com/secret',
  'https:\\\\example.com\\secret',
  'https://example.com\\secret',
  'https:/example.com/secret',
  'https:example.com/secret',
  'http://127.1/secret',
  'http://ｅxample.com/secret',
  'file:/secret',
  'file:////secret',
  'FILE:///secret',
  'file://localhost/secret',
  'file:\\\\\\secret',
];
const AMBIGUOUS = [...DOTTED, ...ENCODED, ...DROPPED];
const PLAIN = [
  'docs://open/a.txt',
  'docs://open/.hidden',
  'docs://open/..hidden',
  'docs://open/...',
  'docs://open/a..b/c.',
  'docs://example.com/v1.2/x?y=1.5#z.',
  'docs://open/100%25',
  'docs://open/%20a',
  'docs://open/a%40b%3A%5B%60%7B%2C%7C',
  'docs://open/%C3%A4',
  'docs://open/ä b',
  'docs://get/https://example.com/a',
  'docs://open/a?b=c//d',
  'docs:///a/',
];
const PLAIN_AUTHORITY = [
  'https://example.com',
  'https://example.com/a/?x',
  'http://example.com:8080/ä?b=\\',
  'http://127.0.0.1/a',
  'file:///a/b',
  'file://server/share',
  'ui://Widget/A',
  'urn:isbn:0451450523',
];

describe('ambiguous URIs', () => {
  it('are found in every spelling that some server resolves', () => {
    for (const uri of [...AMBIGUOUS, ...OTHER_AUTHORITY]) expect([uri, isAmbiguousUri(uri)]).toEqual([uri, true]);
    for (const uri of [...PLAIN, ...PLAIN_AUTHORITY]) expect([uri, isAmbiguousUri(uri)]).toEqual([uri, false]);
  });

  it('are looked for in time that grows with the URI', () => {
    const usedMs = cpuClock();
    for (const piece of ['.', './a', '%25', '%2', '%2f.', '..;', '/', ':/', ' ', '\\']) {
      for (const scheme of ['x', 'https', 'file']) isAmbiguousUri(`${scheme}:${piece.repeat(500_000)}a`);
    }
    expect(usedMs()).toBeLessThan(3_000);
  });
});

describe('a resource behind a template', () => {
  const ERAS: readonly Era[] = ['2025-11-25', '2026-07-28'];
  proves(
    'choice.aggregation.dot-segments',
    'is not read by a URI that has another spelling, which reaches no backend',
    async () => {
      const server = fakeServer()
        .template('docs://{+path}')
        .resource('docs://listed/../as-it-is', 'listed')
        .on('resources/read', ({ params }) => ({ contents: [{ uri: String(params.uri), text: 'read' }] }));
      await using kit = await testGateway({ backends: { far: server } });
      for (const era of ERAS) {
        const client = await kit.client({ era });
        const before = server.received.length;
        for (const uri of AMBIGUOUS) {
          const { error } = await client.request('resources/read', { uri });
          expect([uri, error?.code, error?.message]).toEqual([uri, -32602, expect.stringContaining('ambiguous')]);
          if (era === '2025-11-25') {
            expect((await client.request('resources/subscribe', { uri })).error?.code).toBe(-32602);
          }
        }
        expect(server.received.slice(before).filter(({ method }) => method.startsWith('resources/'))).toEqual([]);
        for (const uri of [...PLAIN, 'docs://listed/../as-it-is']) {
          expect([uri, (await client.request('resources/read', { uri })).error]).toEqual([uri, undefined]);
        }
      }
    },
  );
});
