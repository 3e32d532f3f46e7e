import type { BrowserAnswer } from '../provider/interactions.ts';
import { type Html, html } from './html.ts';
import { STYLE, STYLE_SOURCE } from './style.ts';

/** Parts of a page. */
export interface PageParts {
  readonly status: number;
  readonly title: string;
  readonly main: Html;
  /** The browser goes there by itself. A page of ours or of a provider, made by this program. */
  readonly continueTo?: string;
  readonly cookies?: readonly string[];
}

/** A whole page as an answer. Pages have no scripts, load nothing, and are shown in no frame. */
export function pageAnswer({ status, title, main, continueTo, cookies = [] }: PageParts): BrowserAnswer {
  const refresh =
    continueTo === undefined ? undefined : html`<meta http-equiv="refresh" content="${`0;url=${continueTo}`}">`;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${refresh}
<style>${{ markup: STYLE }}</style>
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`;
  return { status, headers: { ...PAGE_HEADERS, ...cookieHeader(cookies) }, body: page.markup };
}

/** A redirect that is followed with GET. */
export function redirectAnswer(location: string, cookies: readonly string[] = []): BrowserAnswer {
  return { status: 303, headers: { ...BASE_HEADERS, location, ...cookieHeader(cookies) } };
}

function cookieHeader(cookies: readonly string[]): { readonly 'set-cookie'?: readonly string[] } {
  return cookies.length === 0 ? {} : { 'set-cookie': cookies };
}

/**
 * `same-origin`, because with `no-referrer` browsers send `Origin: null` with the forms of the page, which is refused. Other
 * sites get no referrer either way.
 */
const BASE_HEADERS = { 'cache-control': 'no-store', 'referrer-policy': 'same-origin' } as const;

/** `form-action 'self'` also applies to redirects after a form: answers to forms lead elsewhere by `continueTo`. */
const PAGE_HEADERS = {
  ...BASE_HEADERS,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src ${STYLE_SOURCE}; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;
