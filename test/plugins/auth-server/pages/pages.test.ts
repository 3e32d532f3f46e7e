import { expect, it } from 'vitest';
import { consentPage } from '../../../../plugins/auth-server/pages/consent-page.ts';
import { html } from '../../../../plugins/auth-server/pages/html.ts';
import { problemPage } from '../../../../plugins/auth-server/pages/problem-page.ts';
import { hostOf, returnPlace, shownText } from '../../../../plugins/auth-server/pages/shown-text.ts';
import { STYLE } from '../../../../plugins/auth-server/pages/style.ts';
import type { Interaction } from '../../../../plugins/auth-server/provider/interactions.ts';

it('escapes every text that is inserted, in elements and attributes', () => {
  const text = `"><script>'&`;
  expect(html`<a title="${text}">${text}</a>`.markup).toBe(
    '<a title="&#34;&#62;&#60;script&#62;&#39;&#38;">&#34;&#62;&#60;script&#62;&#39;&#38;</a>',
  );
});

it.each([
  ['controls and line breaks', 'Cl\u0000au\r\nde\u007f', 'Cl au de'],
  ['a text that changes direction', 'Claude\u202e moc.live', 'Claude moc.live'],
  ['isolates and zero-width characters', '\u2066Cla\u200bu\ufeffde\u2069', 'Cla u de'],
  ['characters that look empty', '\u3164\u2800 x \ue000', 'x'],
  ['many combining marks', `a${'\u0301'.repeat(50)}b`, 'a\u0301\u0301b'],
  ['an unpaired surrogate', 'a\ud800b', 'a b'],
])('shows a name without %s', (_what, given, shown) => {
  expect(shownText(given)).toBe(shown);
});

it('cuts long names, and gives nothing for an empty one', () => {
  expect(shownText('x'.repeat(10_000))).toBe(`${'x'.repeat(79)}…`);
  expect([...(shownText('😀'.repeat(200)) ?? '')]).toHaveLength(80);
  expect(shownText(' \u200b\n')).toBeUndefined();
});

it('names the host of a URL in ASCII, and no host for other schemes', () => {
  expect(hostOf('https://аpple.com/path')).toBe('xn--pple-43d.com');
  expect(hostOf('https://apple.com@evil.example/')).toBe('evil.example');
  expect(hostOf('javascript:alert(1)')).toBeUndefined();
});

it.each([
  ['http://127.0.0.1:1234/callback', 'a program on this computer (127.0.0.1:1234)'],
  ['http://localhost/callback', 'a program on this computer (localhost)'],
  ['https://claude.ai/api/mcp/auth_callback', 'claude.ai'],
  ['http://localhost.evil.example/cb', 'localhost.evil.example'],
  ['cursor://anysphere.cursor-mcp/oauth', 'the application that opens cursor: links'],
])('says where the answer to %s goes', (redirectUri, place) => {
  expect(returnPlace(redirectUri)).toBe(place);
});

const INTERACTION: Interaction = {
  uid: 'u1',
  needs: 'consent',
  client: {
    id: 'c1',
    name: '<img src=x onerror=alert(1)>\u202e',
    uri: 'https://evil.example/"><b>',
    isUnknown: true,
    hasSecret: false,
  },
  redirectUri: 'http://127.0.0.1:7777/callback',
  resource: 'https://gateway.example/mcp',
  scopes: ['openid', 'offline_access', '<i>scope</i>'],
  asksLogin: false,
  asksConsent: false,
  person: 'p1',
};

it('shows on the consent page who asks, where the answer goes, and no markup of the client', () => {
  const { body = '', headers } = consentPage({
    interaction: INTERACTION,
    person: { id: 'p1', name: 'Ada <b>', email: 'ada@example.com' },
    action: '/oauth/sign-in/u1',
    csrf: 'token',
    cookies: [],
  });
  expect(body).toContain('&#60;img src=x onerror=alert(1)&#62;');
  expect(body).not.toMatch(/<(?:img|script|i|b)[ >]/);
  expect(body).not.toContain('\u202e');
  for (const shown of [
    'evil.example (not verified)',
    '127.0.0.1:7777',
    'https://gateway.example/mcp',
    'ada@example.com',
  ])
    expect(body).toContain(shown);
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'same-origin',
  });
  expect(headers['content-security-policy']).toMatch(
    /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
  );
});

it('has headings, a language and a title on every page, and no scripts', () => {
  const { body = '' } = problemPage({
    status: 400,
    title: 'Expired',
    what: 'Too late.',
    next: 'Start again.',
    retry: '/x',
  });
  expect(body).toMatch(/^<!doctype html>\n<html lang="en">/);
  expect(body).toContain('<title>Expired</title>');
  expect(body.match(/<h1>/g)).toHaveLength(1);
  expect(body).not.toMatch(/<script|javascript:| on[a-z]+=/i);
});

/** Relative luminance. Source: WCAG 2.2, contrast ratio. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

it.each(['light', 'dark'] as const)('has a contrast of at least 4.5 to 1 for all texts (%s)', (scheme) => {
  const [light = '', dark = ''] = [...STYLE.matchAll(/:root \{([^}]*)\}/g)].map((found) => found[1]);
  const text = scheme === 'light' ? light : dark;
  const colour = Object.fromEntries(
    [...text.matchAll(/--([a-z-]+): (#[0-9a-f]{6})/g)].map(([, name, hex]) => [name, hex]),
  );
  const pairs = [
    ...['text', 'muted', 'strong', 'danger'].flatMap((front) => [
      [front, 'card'],
      [front, 'page'],
    ]),
    ['text', 'note'],
    ['on-strong', 'strong'],
  ] as const;
  for (const [front = '', back = ''] of pairs) {
    const [one, other] = [luminance(String(colour[front])), luminance(String(colour[back]))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    expect(ratio, `${front} on ${back}`).toBeGreaterThanOrEqual(4.5);
  }
});
