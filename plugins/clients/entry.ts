import type { EntryTransport, HeaderForm } from './table/client-row.ts';
import { type ClientType, clientRow } from './table/client-table.ts';

/** One server, as every client gets it. */
export interface Entry {
  readonly name: string;
  readonly url: string;
  readonly transport: EntryTransport;
  /** Headers by name; each value has one reference `${VARIABLE}` to a variable of the client's environment. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Builds the value of an entry in the file of a client. Headers must fit, see {@link headersProblem}. */
export function entryFor(type: ClientType, { name, url, transport, headers = {} }: Entry): Record<string, unknown> {
  const { urlField, typeField, further = {}, headers: form } = clientRow(type);
  const own = Object.entries(further).map(([key, value]) => [key, key === 'name' ? name : value] as const);
  return {
    ...Object.fromEntries(own.filter(([key]) => key === 'name')),
    ...(typeField === undefined ? {} : { [typeField.name]: typeField[transport] }),
    [urlField[transport]]: url,
    ...Object.fromEntries(own.filter(([key]) => key !== 'name')),
    ...headerMembers(form, headers),
  };
}

/** Why a client cannot have these headers; `undefined` when it can. */
export function headersProblem(type: ClientType, headers: Readonly<Record<string, string>>): string | undefined {
  const { headers: form, title } = clientRow(type);
  const given = Object.entries(headers);
  if (given.length === 0) return undefined;
  for (const [name, value] of given) {
    if (!HEADER_NAME.test(name)) return `"${printable(name)}" is not the name of a header`;
    if (readReference(value) === undefined)
      return `the header ${name} needs exactly one reference such as \${TOKEN} to an environment variable, and printable text around it: tokens are not written into files`;
  }
  if (form.form === 'none') return `${title} has no reference to an environment variable for headers`;
  if (form.form === 'vibe' && given.length > 1) return `${title} takes one header only`;
  if (form.form === 'codex' && given.some(([name, value]) => !fitsCodex(name, value)))
    return `${title} takes Authorization with the value Bearer \${VARIABLE}, and other headers with the value \${VARIABLE} only`;
  return undefined;
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/; // RFC 9110 token

interface Reference {
  readonly before: string;
  readonly variable: string;
  readonly after: string;
}

/** Splits `Bearer ${TOKEN}`; `undefined` without exactly one reference. */
function readReference(value: string): Reference | undefined {
  const [, before, variable, after] =
    /^([^$\p{C}]{0,256})\$\{([A-Za-z_][A-Za-z0-9_]{0,127})\}([^$\p{C}]{0,256})$/u.exec(value) ?? [];
  return before === undefined || variable === undefined || after === undefined
    ? undefined
    : { before, variable, after };
}

function fitsCodex(name: string, value: string): boolean {
  const { before, after } = readReference(value) ?? { before: ' ', after: ' ' };
  const isBearer = name.toLowerCase() === 'authorization' && before === 'Bearer ';
  return after === '' && (before === '' || isBearer);
}

function headerMembers(form: HeaderForm, headers: Readonly<Record<string, string>>): Record<string, unknown> {
  const given = Object.entries(headers).flatMap(([name, value]) => {
    const reference = readReference(value);
    return reference === undefined ? [] : [{ name, ...reference }];
  });
  const [first] = given;
  if (first === undefined || form.form === 'none') return {};
  if (form.form === 'vibe')
    return {
      api_key_env: first.variable,
      api_key_header: first.name,
      api_key_format: `${first.before}{token}${first.after}`,
    };
  if (form.form === 'codex') {
    const bearer = given.find(({ before }) => before !== '');
    const others = given.filter(({ before }) => before === '').map(({ name, variable }) => [name, variable]);
    return {
      ...(bearer === undefined ? {} : { bearer_token_env_var: bearer.variable }),
      ...(others.length === 0 ? {} : { env_http_headers: Object.fromEntries(others) }),
    };
  }
  const values = given.map(({ name, before, variable, after }) => [
    name,
    `${before}${form.before}${variable}${form.after}${after}`,
  ]);
  const [outer = '', inner] = form.path;
  const map = Object.fromEntries(values);
  return inner === undefined ? { [outer]: map } : { [outer]: { [inner]: map } };
}

function printable(text: string): string {
  return text.slice(0, 64).replace(/\p{C}/gu, '?');
}
