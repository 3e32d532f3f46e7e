const MAX_TEXT = 512;

const NAME = '[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?';
const EXTRAS = `\\[ *${NAME}(?: *, *${NAME})* *\\]`;
const CLAUSE = '(?:===?|~=|!=|<=|>=|<|>) *[A-Za-z0-9][A-Za-z0-9.*+!_-]*';
const CLAUSES = `${CLAUSE}(?: *, *${CLAUSE})*`;

/** `name[extra,…]` with version specifiers; no URL, no marker, no file. */
const REQUIREMENT = new RegExp(`^(${NAME}) *(${EXTRAS})? *(${CLAUSES})?$`);
/** `name[extra,…]@version`, as `uvx` reads it. */
const AT_VERSION = new RegExp(`^(${NAME})(${EXTRAS})?@([A-Za-z0-9][A-Za-z0-9.+!_-]*)$`);

/** A package of `uvx://…`, or a constraint of `--build-with`. */
export interface PythonPackage {
  readonly scheme: 'uvx';
  readonly name: string;
  readonly extras: readonly string[];
  /** Specifiers of PEP 440. */
  readonly version?: string;
}

/** uv reads these as archives in the current folder. */
const FILE = /\.(whl|zip|tgz|tar\.[a-z0-9]+)$/i;

/** The package of `uvx://…` (PEP 508 without URLs and markers); `undefined` when it is none. `@latest` means no version. */
export function readPythonPackage(text: string): PythonPackage | undefined {
  if (text.length > MAX_TEXT) return undefined;
  const at = AT_VERSION.exec(text);
  if (at !== null && !FILE.test(at[1] ?? ''))
    return packageOf(at[1] ?? '', at[2], at[3] === 'latest' ? undefined : `==${at[3]}`);
  return readRequirement(text);
}

/** A requirement of PEP 508 without URL and marker; `undefined` when it is none. */
export function readRequirement(text: string): PythonPackage | undefined {
  if (text.length > MAX_TEXT) return undefined;
  const read = REQUIREMENT.exec(text);
  return read === null || FILE.test(read[1] ?? '') ? undefined : packageOf(read[1] ?? '', read[2], read[3]);
}

/** The requirement as PEP 508 writes it, without spaces. */
export function requirementText({ name, extras, version }: PythonPackage): string {
  return `${name}${extras.length === 0 ? '' : `[${extras.join(',')}]`}${version ?? ''}`;
}

function packageOf(name: string, extras: string | undefined, version: string | undefined): PythonPackage {
  const named = (extras ?? '').replace(/[[\] ]/g, '').split(',');
  return {
    scheme: 'uvx',
    name,
    extras: named.filter((extra) => extra !== ''),
    ...(version === undefined ? {} : { version: version.replaceAll(' ', '') }),
  };
}
