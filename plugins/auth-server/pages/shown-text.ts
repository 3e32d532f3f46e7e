/**
 * A text of a stranger as a page may show it: without characters that are invisible, change the direction of the text
 * or break the line, with few combining marks, and cut. `undefined` when nothing is left.
 */
export function shownText(text: string | undefined, maxCharacters = MAX_NAME): string | undefined {
  const clean = (text ?? '')
    .slice(0, MAX_READ)
    .replace(UNSEEN, ' ')
    .replace(MANY_MARKS, '$1')
    .replace(/\s+/g, ' ')
    .trim();
  if (clean === '') return undefined;
  const characters = [...clean];
  return characters.length <= maxCharacters ? clean : `${characters.slice(0, maxCharacters - 1).join('')}…`;
}

const MAX_NAME = 80;
const MAX_READ = 2_048;
/** Controls, formats (bidirectional and zero-width ones), surrogates, private and unassigned characters, separators. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0\u2800\p{Variation_Selector}]/gu;
const MANY_MARKS = /(\p{M}{2})\p{M}+/gu;

/** Host and port of an http or https URL in ASCII, so that look-alike letters show; else `undefined`. */
export function hostOf(url: string | undefined): string | undefined {
  const parsed = URL.parse(url ?? '');
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return undefined;
  return shownText(parsed.host, MAX_HOST);
}

const MAX_HOST = 255; // RFC 1035 §2.3.4

/** Where an application gets its answer, as a sentence part. */
export function returnPlace(redirectUri: string): string {
  const url = URL.parse(redirectUri);
  if (url === null) return 'an unknown place';
  if (!/^https?:$/.test(url.protocol)) return `the application that opens ${shownText(url.protocol)} links`;
  return LOOPBACK.test(url.hostname)
    ? `a program on this computer (${url.host})`
    : (hostOf(redirectUri) ?? 'a web site');
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
