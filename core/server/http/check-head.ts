import type { IncomingMessage } from 'node:http';

/**
 * Why the head of a request is ambiguous; `undefined` when it is not.
 *
 * Shape: the target must be a path, because the host of an absolute one could differ from `Host`; a field that decides who asks
 * what may occur once. Node keeps the first of several, and a proxy in front may have checked another.
 * Source: RFC 9112 §3.2 (Host), §3.2.2 (absolute-form); RFC 9110 §5.3.
 */
export function ambiguityOf({ url = '', rawHeaders }: Pick<IncomingMessage, 'url' | 'rawHeaders'>): string | undefined {
  if (url !== '' && url.charCodeAt(0) !== SLASH && url.charCodeAt(0) !== QUESTION_MARK) {
    return 'the request target must be a path such as /mcp, not a URL or *';
  }
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (!LENGTHS.has(name.length)) continue;
    const place = SINGLE.indexOf(name.toLowerCase());
    if (place === -1) continue;
    if ((seen & (1 << place)) !== 0) return `the header ${SINGLE[place]} must not be repeated`;
    seen |= 1 << place;
  }
  return undefined;
}

const SLASH = 0x2f;
const QUESTION_MARK = 0x3f;
const SINGLE: readonly string[] = ['host', 'authorization', 'content-type', 'origin', 'mcp-session-id'];
const LENGTHS: ReadonlySet<number> = new Set(SINGLE.map(({ length }) => length));
