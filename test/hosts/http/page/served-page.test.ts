import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { loadPage, type PageOffer } from '../../../../hosts/http/page/served-page.ts';

const OFFER: PageOffer = { views: ['workloads', 'browse'], signIn: 'token', readOnly: false };

const answerOf = async (path: string, headers: Record<string, string> = {}) => {
  const answer = (await loadPage(OFFER)).answer(path, headers);
  if (answer === undefined) throw new Error(`${path} is none of the page`);
  return answer;
};

it('the document names only files that are served, with no inline script or style', async () => {
  const page = await loadPage(OFFER);
  const html = String((await answerOf('/')).body);
  const named = [...html.matchAll(/(?:src|href)="\.?(\/[^"]+)"/g)].map(([, path]) => path);
  expect(named.length).toBeGreaterThanOrEqual(3);
  for (const path of named) expect(page.paths).toContain(path);
  expect(html).not.toMatch(/<style|<script(?![^>]*\ssrc=)|\son\w+=|\sstyle=/);
});

it('each file has its type, its ETag and one of three forms', async () => {
  for (const path of (await loadPage(OFFER)).paths) {
    const plain = await answerOf(path);
    const text = plain.body?.toString('base64');
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.headers['content-type'], path).toMatch(
      /^(text\/(html|javascript|css)|image\/svg\+xml|application\/json)/,
    );
    if (path === '/page.json') continue;
    const brotli = await answerOf(path, { 'accept-encoding': 'gzip, deflate, br' });
    expect(brotli.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(brotli.body ?? '').toString('base64')).toBe(text);
    const gzip = await answerOf(path, { 'accept-encoding': 'gzip;q=1.0, br;q=0' });
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(gzip.body ?? '').toString('base64')).toBe(text);
    const known = await answerOf(path, { 'if-none-match': plain.headers.etag ?? '' });
    expect([known.status, known.body]).toEqual([304, undefined]);
  }
});

it('hashed files are kept for good, the document is asked for again, and the offer is never kept', async () => {
  const [asset] = (await loadPage(OFFER)).paths.filter((path) => path.startsWith('/assets/'));
  expect((await answerOf(asset ?? '')).headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect((await answerOf('/')).headers['cache-control']).toBe('no-cache');
  const offer = await answerOf('/page.json');
  expect(offer.headers['cache-control']).toBe('no-store');
  expect(JSON.parse(String(offer.body))).toEqual(OFFER);
});

it('every file has a strict policy: own files only, no frames, no HTML from text, no referrer', async () => {
  for (const path of ['/', '/page.json']) {
    const { headers } = await answerOf(path);
    const policy = headers['content-security-policy'] ?? '';
    for (const rule of ["default-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"]) {
      expect(policy.split('; ')).toContain(rule);
    }
    expect(policy).not.toContain('unsafe');
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['x-frame-options']).toBe('DENY');
  }
});

it('paths that are none of the page have no answer', async () => {
  const page = await loadPage(OFFER);
  for (const path of [
    '/index.html',
    '/assets/',
    '/assets/../page.json',
    '/%2e%2e/page.json',
    '//',
    '/__proto__',
    '/main.tsx',
  ]) {
    expect(page.answer(path, {}), path).toBeUndefined();
  }
});

it('is under 30 kB of script for the first view and under 150 kB in all, compressed', async () => {
  const page = await loadPage(OFFER);
  const sizes = page.paths.map((path) => {
    const { body, headers } = page.answer(path, { 'accept-encoding': 'gzip' }) ?? {};
    return { path, bytes: body?.length ?? 0, type: headers?.['content-type'] ?? '' };
  });
  const sum = (wanted: (file: (typeof sizes)[number]) => boolean) =>
    sizes.filter(wanted).reduce((total, { bytes }) => total + bytes, 0);
  expect(sum(() => true)).toBeLessThan(150_000);
  const html = String((await answerOf('/')).body);
  const first = sum(({ path, type }) => type.startsWith('text/javascript') && html.includes(path));
  expect(first).toBeLessThan(30_000);
});
