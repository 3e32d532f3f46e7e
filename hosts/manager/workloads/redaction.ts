import { isSecretName, redactedText } from '@toolmgr/plugins/kit/secrets';
import { HIDDEN, redactArguments, redactUrl } from '../../shared/redact-arguments.ts';
import type { WorkloadField } from '../../workloads/fields/run-option.ts';

type TextMap = Readonly<Record<string, string>>;

/** Whether a value of this name is shown: neither the name nor the value looks like a secret. */
function isShown(name: string, value: string): boolean {
  if (isSecretName(name) || SECRET_LIKE_NAME.test(name)) return false;
  return (
    value.length <= LONGEST_SHOWN && redactedText(value) === value && !hasRandomPart(value) && !hasCredentials(value)
  );
}

const SECRET_LIKE_NAME = /pwd|pass|dsn|connection|signature|salt|session|bearer/i;
const LONGEST_SHOWN = 512;

/** A run of 20 or more characters with letters and digits: a token or a key, and seldom anything else. */
function hasRandomPart(value: string): boolean {
  const runs = value.match(/[A-Za-z0-9+=_-]{20,}/g) ?? [];
  return runs.some((run) => /[A-Za-z]/.test(run) && /\d/.test(run));
}

/** A URL with a user, a password or a query. */
function hasCredentials(value: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(value) && (/\?/.test(value) || /:\/\/[^/]*@/.test(value));
}

/** Values of variables or headers for a reader; those that may be secret are hidden. */
export function redactMap(values: TextMap): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, isShown(name, value) ? value : HIDDEN]),
  );
}

/** Arguments of a program for a reader. */
export function redactList(values: readonly string[]): string[] {
  return redactArguments(values) as string[];
}

/** The query and the credentials of a URL are hidden. */
export { redactUrl };

/** A value after an edit, or the names of the members that are hidden and have no stored value. */
export type Restored<T> = { readonly value: T } | { readonly hidden: readonly string[] };

/** Puts stored values in the place of hidden ones that came back unchanged. */
export function restoreMap(given: TextMap, stored: TextMap = {}): Restored<Record<string, string>> {
  const shown = redactMap(stored);
  const hidden: string[] = [];
  const entries = Object.entries(given).map(([name, value]): [string, string] => {
    const before = Object.hasOwn(stored, name) ? stored[name] : undefined;
    if (before !== undefined && value === shown[name]) return [name, before];
    if (value.includes(HIDDEN)) hidden.push(name);
    return [name, value];
  });
  return hidden.length > 0 ? { hidden } : { value: Object.fromEntries(entries) };
}

/**
 * The same for a list: a hidden element stands for the stored element with the same place among equal ones. When their number
 * changed it is not clear which is meant.
 */
export function restoreList(given: readonly string[], stored: readonly string[] = []): Restored<string[]> {
  const shown = redactList(stored);
  const isHidden = (text: string): boolean => text.includes(HIDDEN);
  const wanted = given.filter(isHidden);
  const hidden = [...new Set(wanted)].filter(
    (text) => wanted.filter((each) => each === text).length !== shown.filter((each) => each === text).length,
  );
  if (hidden.length > 0) return { hidden };
  const left = new Map<string, string[]>();
  shown.forEach((text, index) => {
    if (isHidden(text)) left.set(text, [...(left.get(text) ?? []), stored[index] ?? '']);
  });
  return { value: given.map((text) => (isHidden(text) ? (left.get(text)?.shift() ?? text) : text)) };
}

/** The same for one text, such as a URL. */
export function restoreText(given: string, stored: string | undefined): Restored<string> {
  if (stored !== undefined && given === redactUrl(stored)) return { value: stored };
  return given.includes(HIDDEN) ? { hidden: [''] } : { value: given };
}

type Hidden = NonNullable<WorkloadField['hidden']>;

/** How values of a field are hidden where they are shown, and restored where they come back. */
const FORMS: Readonly<
  Record<Hidden, readonly [(value: never) => unknown, (given: never, stored: never) => Restored<unknown>]>
> = {
  map: [redactMap, restoreMap],
  list: [redactList, restoreList],
  url: [redactUrl, restoreText],
};

/** A value for a reader. */
export function hide(form: Hidden, value: unknown): unknown {
  return FORMS[form][0](value as never);
}

/** A value after an edit. */
export function restore(form: Hidden, given: unknown, stored: unknown): Restored<unknown> {
  return FORMS[form][1](given as never, stored as never);
}

/** The value of a field of a configuration, or of a member of a body. */
export function valueAt(config: object, stored = ''): unknown {
  return stored
    .split('.')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], config);
}
