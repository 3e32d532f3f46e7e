import { describe, expect, it } from 'vitest';
import { MAX_MATCHED_URI, type UriMatcher, uriMatcher } from '../../../core/catalog/uri-template.ts';
import { MAX_TEMPLATE, readTemplate } from '../../../core/catalog/uri-template-parts.ts';
import fc from '../../support/fast-check.ts';

const MATCHES: Readonly<Record<string, readonly string[]>> = {
  'demo://text/{id}': ['demo://text/1', 'demo://text/a%2Fb', 'demo://text/a,b', 'demo://text/søk', 'demo://text/a:b@c'],
  'demo://{a}/x/{b}': ['demo://1/x/2', 'demo://x/x/x'],
  'file:///{+path}': ['file:///a', 'file:///a/b/c.txt', 'file:///a?b#c'],
  'note://{id}.md': ['note://a.md', 'note://a.md.md', 'note://a.b.md'],
  'x://{a,b}': ['x://1,2', 'x://1'],
  'x://{a*}': ['x://1,2,3', 'x://k=v,l=w'],
  'x://p{#frag}': ['x://p', 'x://p#', 'x://p#a/b?c'],
  'x://p{.ext}': ['x://p', 'x://p.json', 'x://p.tar.gz'],
  'x://r{/owner,repo}': ['x://r', 'x://r/a', 'x://r/a/b'],
  'x://r{/path*}': ['x://r', 'x://r/a', 'x://r/a/b/c'],
  'x://s{?q,page}': ['x://s', 'x://s?q=1', 'x://s?page=2', 'x://s?q=1&page=2', 'x://s?page=2&q=', 'x://s?q=a/b?c'],
  'x://s?fixed=1{&q}': ['x://s?fixed=1', 'x://s?fixed=1&q=2'],
  'x://s{?all*}': ['x://s', 'x://s?a=1&b=2'],
  'x://m{;x,y}': ['x://m', 'x://m;x=1', 'x://m;x=1;y=2', 'x://m;x;y=2'],
  'x://{user:3}/{a-b}': ['x://fre/1'],
  'x://{+a}x{+b}x{c}': ['x://1x2x3', 'x://xxxxxx', 'x://1/x/x2/x3'],
  'x://aab{x}aab': ['x://aabaabaab', 'x://aab1aab'],
};

const REFUSES: Readonly<Record<string, readonly string[]>> = {
  'demo://text/{id}': ['demo://text/', 'demo://text/a/b', 'demo://text/a?b', 'demo://texts/1', 'Demo://text/1', ''],
  'demo://{a}/x/{b}': ['demo://1/y/2', 'demo:///x/2', 'demo://1/x/'],
  'file:///{+path}': ['file:///', 'file://a'],
  'note://{id}.md': ['note://.md', 'note://a.md/b', 'note://a.txt'],
  'x://r{/owner,repo}': ['x://r/a/b/c', 'x://ra'],
  'x://s{?q,page}': ['x://s?other=1', 'x://s&q=1', 'x://s?q=1&other=2', 'x://sq', 'x://s?q=1#f', 'x://s?qq=1'],
  'x://m{;x,y}': ['x://m;z=1', 'x://m/x=1'],
  'x://p{#frag}': ['x://pa'],
};

describe('a URI template', () => {
  it.each(Object.entries(MATCHES))('%s matches its expansions', (template, uris) => {
    const matches = compileUriTemplate(template);
    expect(uris.filter((uri) => matches?.(uri) !== true)).toEqual([]);
  });

  it.each(Object.entries(REFUSES))('%s refuses what it cannot expand to', (template, uris) => {
    const matches = compileUriTemplate(template);
    expect(uris.filter((uri) => matches?.(uri) !== false)).toEqual([]);
  });

  it.each([
    'x://{',
    'x://}',
    'x://{}',
    'x://{a',
    'x://a}',
    'x://{a}}',
    'x://{a b}',
    'x://{!a}',
    'x://{=a}',
    'x://{a**}',
    'x://{a,}',
  ])('is not matched when malformed: %s', (template) => {
    expect(compileUriTemplate(template)).toBeUndefined();
  });

  it('is not matched when it is over its bounds', () => {
    expect(compileUriTemplate(`x://${'a'.repeat(MAX_TEMPLATE)}`)).toBeUndefined();
    expect(compileUriTemplate(`x://${'{a}b'.repeat(100)}`)).toBeUndefined();
    expect(compileUriTemplate('x://{+a}')?.(`x://${'a'.repeat(MAX_MATCHED_URI)}`)).toBe(false);
  });

  it('matches every expansion of simple, reserved, path and query values', () => {
    const value = fc.string({ minLength: 1, maxLength: 12 }).map(encodeURIComponent);
    const free = fc.webPath().filter((path) => path !== '');
    fc.assert(
      fc.property(value, free, value, value, (id, path, segment, query) => {
        expect(compileUriTemplate('t://{id}/s')?.(`t://${id}/s`)).toBe(true);
        expect(compileUriTemplate('t://{+path}')?.(`t://${path}`)).toBe(true);
        expect(compileUriTemplate('t://x{/segment}')?.(`t://x/${segment}`)).toBe(true);
        expect(compileUriTemplate('t://x{?a,b}')?.(`t://x?a=${query}&b=${segment}`)).toBe(true);
        expect(compileUriTemplate('t://{id}{/segment}{?q}')?.(`t://${id}/${segment}?q=${query}`)).toBe(true);
      }),
    );
  });

  it('agrees with a regular expression on small alphabets', () => {
    const templates = [
      ['{a}b{c}', /^[^/?#]+b[^/?#]+$/],
      ['{+a}b{c}/', /^[\s\S]+b[^/?#]+\/$/],
      ['a{/b}b{/a,b}', /^a(?:\/[^/?#]*)?b(?:\/[^/?#]*)?(?:\/[^/?#]*)?$/],
      ['a{?a,b}', /^a(?:\?(?:a|b)(?:=[^&#]*)?(?:&(?:a|b)(?:=[^&#]*)?)*)?$/],
      ['{a}{;b}{#a}', /^[^/?#]+(?:;b(?:=[^/?#;]*)?(?:;b(?:=[^/?#;]*)?)*)?(?:#[\s\S]*)?$/],
    ] as const;
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '?', '=', '&', ';', '#'), maxLength: 14 });
    fc.assert(
      fc.property(text, (uri) => {
        for (const [template, pattern] of templates) {
          expect([template, compileUriTemplate(template)?.(uri)]).toEqual([template, pattern.test(uri)]);
        }
      }),
      { numRuns: 5000 },
    );
  });

  it.each([
    ['many open values', '{+a}x'.repeat(31), 'x'],
    ['nested borders', `{+a}${'a'.repeat(1000)}b{+c}${'a'.repeat(1000)}`, 'a'],
    ['queries inside queries', 'x{+a}{?q}{+b}{?q}{+c}{?q}y', '?q='],
    ['pairs inside pairs', 'x{+a}{?b*}{+c}{&d*}{+e}{&f*}y', '?&&'],
    ['many names', `x{+a}{?${'n,'.repeat(1000)}n}y`, '?n&n'],
  ])('reads a hostile URI in time linear in its length: %s', (_, template, unit) => {
    const matches = compileUriTemplate(template);
    const begun = template.startsWith('x') ? 'x' : ''; // another beginning is refused at once
    const uri = `${begun}${unit.repeat(MAX_MATCHED_URI)}`.slice(0, MAX_MATCHED_URI - 1).concat('#');
    expect(matches).toBeDefined();
    const eighth = uri.slice(0, uri.length / 8 - 1).concat('#');
    const [whole = 0, part = 0] = [uri, eighth].map((text) => readsOf(text, (read) => matches?.(read)));
    expect(whole).toBeGreaterThan(uri.length);
    expect(whole).toBeLessThan(40 * 8 * uri.length); // some looks at each character for each of at most 40 parts
    expect(whole).toBeLessThan(10 * part); // eight times the length: linear is 8 times, quadratic 64 times as many
  });
});

/** How often characters of a text are looked at. */
function readsOf(text: string, match: (text: string) => unknown): number {
  let reads = 0;
  const counted = new Proxy(Object(text) as object, {
    get(_, key) {
      if (key === 'length') return text.length;
      reads += 1;
      const member = text[key as keyof string] as unknown;
      if (typeof member !== 'function') return member;
      return (...args: readonly unknown[]) => {
        if (key === 'startsWith') reads += String(args[0]).length;
        return member.apply(text, args);
      };
    },
  });
  match(counted as unknown as string);
  return reads;
}

function compileUriTemplate(template: string): UriMatcher | undefined {
  const parts = readTemplate(template);
  return parts && uriMatcher(parts);
}
