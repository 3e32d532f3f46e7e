import { redactedText } from '@toolmgr/plugins';

/** What stands in the place of a secret. */
export const HIDDEN = '[secret]';

/**
 * The arguments of a program as they may be printed: which are secret is the program's business, so only what tells
 * nothing is shown.
 *
 * Shape: names of flags, the first argument that is no flag (what is run), scoped packages, paths, short numbers and
 * booleans stay; every other value is {@link HIDDEN}, behind `=` too.
 */
export function shownArguments(args: readonly unknown[]): unknown[] {
  let isFirst = true;
  return args.map((arg) => {
    if (typeof arg !== 'string' || arg === '') return arg;
    const flag = FLAG.exec(arg);
    if (flag !== null) return flag[2] === undefined ? arg : `${flag[1]}${shownValue(flag[2].slice(1), '=')}`;
    const isProgram = isFirst;
    isFirst = false;
    return isProgram ? shownProgram(arg) : shownValue(arg);
  });
}

/** A text as it may be printed: a URL loses its credentials and the values of its query. */
export function shownText(text: string): string {
  return URL_LIKE.test(text) ? shownUrl(text) : text;
}

const FLAG = /^(--?[A-Za-z][\w.-]*)(=[\s\S]*)?$/;
const HARMLESS = /^(?:\d{1,5}|true|false|@[\w.-]+\/[\w.-]+(?:@[\w.^~-]+)?|\.{0,2}\/[^\s=?&]*|[A-Za-z]:[\\/][^\s=?&]*)$/;
const URL_LIKE = /^[a-z][a-z0-9+.-]*:\/\//i;

function shownValue(value: string, before = ''): string {
  return before + (HARMLESS.test(value) && redactedText(value) === value ? value : HIDDEN);
}

/** `npx NAME`, `node FILE`, `docker run`; a command line after `sh -c` is none of these. */
function shownProgram(arg: string): string {
  if (URL_LIKE.test(arg)) return shownText(arg);
  return /[\s=;|&$]/.test(arg) || redactedText(arg) !== arg ? HIDDEN : arg;
}

function shownUrl(url: string): string {
  const start = url.search(/[?#]/);
  if (start === -1) return redactedText(url);
  const before = redactedText(url.slice(0, start));
  if (url[start] === '#') return before;
  const [query = ''] = url.slice(start + 1).split('#');
  return `${before}?${query.split('&').map(withoutValue).join('&')}`;
}

/** A query without `=` may be a secret by itself. */
function withoutValue(pair: string): string {
  const equals = pair.indexOf('=');
  return equals === -1 ? HIDDEN : `${pair.slice(0, equals)}=${HIDDEN}`;
}
