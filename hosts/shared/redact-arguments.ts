import { redactedText } from '@toolmgr/plugins/kit/secrets';

/** Printed instead of a secret. */
export const HIDDEN = '[secret]';

/**
 * Redacts the arguments of a program for printing. Any argument may be secret, so only harmless forms are shown.
 *
 * Shape: keeps names of flags, the first argument that is not a flag (the program), scoped packages, paths, short numbers
 * and booleans; replaces every other value by {@link HIDDEN}, also after `=`.
 */
export function redactArguments(args: readonly unknown[]): unknown[] {
  let isFirst = true;
  return args.map((arg) => {
    if (typeof arg !== 'string' || arg === '') return arg;
    const flag = FLAG.exec(arg);
    if (flag !== null) return flag[2] === undefined ? arg : `${flag[1]}${redactValue(flag[2].slice(1), '=')}`;
    const isProgram = isFirst;
    isFirst = false;
    return isProgram ? redactProgram(arg) : redactValue(arg);
  });
}

/**
 * The same for a program with its arguments. The first argument, also after `-y`, is shown like a program: it is the package of `npx`,
 * the script of `node`, or a subcommand. After any other flag it may be the value of the flag.
 */
export function redactCommand(program: string, args: readonly string[]): unknown[] {
  const first = args.find((arg) => !YES.has(arg));
  if (first === undefined || first.startsWith('-')) return redactArguments([program, ...args]);
  return [...redactArguments([program]), ...redactArguments(args)];
}

const YES: ReadonlySet<string> = new Set(['-y', '--yes']);

/** Removes the credentials and the query values of a URL; other text is unchanged. */
export function redactUrl(text: string): string {
  return URL_LIKE.test(text) ? redactUrlParts(text) : text;
}

const FLAG = /^(--?[A-Za-z][\w.-]*)(=[\s\S]*)?$/;
const HARMLESS =
  /^(?:\d{1,5}|true|false|@[\w.-]+\/[\w.-]+(?:@[\w.^~-]+)?|\.{1,2}|\.{0,2}\/[^\s=?&]*|[A-Za-z]:[\\/][^\s=?&]*)$/;
const URL_LIKE = /^[a-z][a-z0-9+.-]*:\/\//i;

function redactValue(value: string, before = ''): string {
  return before + (HARMLESS.test(value) && redactedText(value) === value ? value : HIDDEN);
}

/** The program argument, as in `npx NAME`, `node FILE` or `docker run`; hides a command line after `sh -c`. */
function redactProgram(arg: string): string {
  if (URL_LIKE.test(arg)) return redactUrl(arg);
  return /[\s=;|&$]/.test(arg) || redactedText(arg) !== arg ? HIDDEN : arg;
}

function redactUrlParts(url: string): string {
  const start = url.search(/[?#]/);
  if (start === -1) return redactedText(url);
  const before = redactedText(url.slice(0, start));
  if (url[start] === '#') return before;
  const [query = ''] = url.slice(start + 1).split('#');
  return `${before}?${query.split('&').map(withoutValue).join('&')}`;
}

/** A query part without `=` may itself be a secret. */
function withoutValue(pair: string): string {
  const equals = pair.indexOf('=');
  return equals === -1 ? HIDDEN : `${pair.slice(0, equals)}=${HIDDEN}`;
}
