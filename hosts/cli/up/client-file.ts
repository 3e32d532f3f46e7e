import { readFile } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { type Backend, type EraSetting, GatewayFault, isObject, type JsonObject, type JsonValue } from '@toolmgr/core';
import { callTimeoutFrom } from './call-timeout.ts';
import { ERAS } from './eras.ts';
import { expand, type Surroundings, Unfilled } from './expand.ts';
import { parseJsonWithComments } from './json-with-comments.ts';

/** What a client configuration file asks for. */
export interface ClientFile {
  readonly backends: readonly Backend[];
  /** Headers towards a remote, by backend name, lower-case header names. Values may be secret. */
  readonly headers: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Sentences about servers that are left out and settings that have no effect here. */
  readonly notes: readonly string[];
}

/** Where the servers stand: Claude and Cursor write `mcpServers`, VS Code `servers` (in settings: below `mcp`). */
const PLACES = [['mcpServers'], ['servers'], ['mcp', 'servers'], ['mcp', 'mcpServers']] as const;

/** Names of transports in the wild. */
const TRANSPORTS: Readonly<Record<string, Backend['transport']>> = {
  stdio: 'stdio',
  http: 'streamable-http',
  'streamable-http': 'streamable-http',
  streamableHttp: 'streamable-http',
  streamable_http: 'streamable-http',
  sse: 'sse',
};

const URL_KEYS = ['url', 'serverUrl', 'httpUrl'] as const;
const READ_KEYS: ReadonlySet<string> = new Set([
  ...URL_KEYS,
  'type',
  'transport',
  'command',
  'args',
  'env',
  'envFile',
  'cwd',
  'headers',
  'timeout',
  'disabled',
  'enabled',
  'era',
]);

/**
 * Reads a client configuration file as it is: comments and trailing commas allowed, variables filled in.
 *
 * A server that cannot be served (a variable is missing, a wrong shape) is left out with a note; the others are served.
 * @throws GatewayFault PLAN_INVALID when the text is no JSON, or has no servers at all
 */
export async function readClientFile(text: string, file: string, around: Surroundings): Promise<ClientFile> {
  const servers = serversIn(parseJsonWithComments(text, file), file);
  const backends: Backend[] = [];
  const headers = new Map<string, Readonly<Record<string, string>>>();
  const notes: string[] = [];
  const taken = new Set<string>();
  for (const [given, server] of Object.entries(servers)) {
    const name = workloadName(given, taken);
    try {
      const read = await readServer(name, server, around);
      if (typeof read === 'string') {
        notes.push(`${given}: ${read}`);
        continue;
      }
      if (name !== given) notes.push(`${given}: served as ${name}, since names are letters, digits, ".", "_" and "-"`);
      notes.push(...read.notes.map((note) => `${given}: ${note}`));
      taken.add(name);
      backends.push(read.backend);
      if (Object.keys(read.headers).length > 0) headers.set(name, read.headers);
    } catch (cause) {
      if (!(cause instanceof Unfilled)) throw cause;
      notes.push(`${given}: left out, ${cause.message}`);
    }
  }
  return { backends, headers, notes };
}

function serversIn(value: JsonValue, file: string): JsonObject {
  for (const path of PLACES) {
    let at: JsonValue | undefined = value;
    for (const key of path) at = isObject(at) ? at[key] : undefined;
    if (isObject(at)) return at;
  }
  throw new GatewayFault(
    'PLAN_INVALID',
    `${file}: there are no servers: expected {"mcpServers": {"name": {"command": …} or {"url": …}}}`,
  );
}

interface ReadServer {
  readonly backend: Backend;
  readonly headers: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

/** One server, or why it is left out. */
async function readServer(
  name: string,
  server: JsonValue | undefined,
  around: Surroundings,
): Promise<ReadServer | string> {
  if (!isObject(server)) return 'left out, expected an object';
  const { era } = server;
  if (era !== undefined && !isEra(era)) {
    return `left out, its "era" is ${JSON.stringify(era)}: expected ${ERAS.join(', ')}`;
  }
  const read = await readKind(name, server, around);
  return typeof read === 'string' || era === undefined ? read : { ...read, backend: { ...read.backend, era } };
}

async function readKind(name: string, server: JsonObject, around: Surroundings): Promise<ReadServer | string> {
  if (server.disabled === true || server.enabled === false) return 'left out, it is disabled in the file';
  const notes = Object.keys(server)
    .filter((key) => !READ_KEYS.has(key))
    .map((key) => `"${key}" is a setting of the client and has no effect here`);
  const kind = server.type ?? server.transport;
  const transport = typeof kind === 'string' ? TRANSPORTS[kind] : undefined;
  if (kind !== undefined && transport === undefined)
    return `left out, its transport ${JSON.stringify(kind)} is unknown`;
  const url = URL_KEYS.map((key) => server[key]).find((one) => one !== undefined);
  if (server.command !== undefined && transport !== 'sse' && transport !== 'streamable-http') {
    return {
      backend: { ...(await commandBackend(name, server, around)), ...timeoutOf(server, notes) },
      headers: {},
      notes,
    };
  }
  if (typeof url !== 'string') return 'left out, it has neither "command" nor "url"';
  const { backend, headers } = remoteBackend(name, expand(url, around), transport, server, around);
  return { backend: { ...backend, ...timeoutOf(server, notes) }, headers, notes };
}

/** The time for one answer of a server, when its file gives one; says how it was read where that could surprise. */
function timeoutOf({ timeout }: JsonObject, notes: string[]): Pick<Backend, 'timeoutMs'> {
  if (timeout === undefined) return {};
  const timeoutMs = callTimeoutFrom(timeout);
  if (timeoutMs === undefined) {
    const expected = 'expected seconds up to 3600, milliseconds above, or a duration such as 5m, at most 24h';
    notes.push(`its "timeout" ${JSON.stringify(timeout)} has no effect, ${expected}`);
    return {};
  }
  if (timeoutMs / 1_000 === timeout) notes.push(`its "timeout" ${timeout} is read as seconds`);
  return { timeoutMs };
}

function isEra(value: JsonValue): value is EraSetting {
  return ERAS.some((era) => era === value);
}

async function commandBackend(name: string, server: JsonObject, around: Surroundings): Promise<Backend> {
  const file = expand(textAt(server.command, 'command'), around);
  const args = listAt(server.args, 'args').map((arg) => expand(arg, around));
  const cwd =
    server.cwd === undefined ? around.folder : resolve(around.folder, expand(textAt(server.cwd, 'cwd'), around));
  const env = { ...(await envFileOf(server.envFile, around)), ...mapAt(server.env, 'env', around) };
  return {
    name,
    transport: 'stdio',
    // a path with a folder in it means the project's, a bare name is looked up on PATH
    command: { file: file.includes('/') && !isAbsolute(file) ? resolve(cwd, file) : file, args, env, cwd },
  };
}

function remoteBackend(
  name: string,
  url: string,
  transport: Backend['transport'] | undefined,
  server: JsonObject,
  around: Surroundings,
): { readonly backend: Backend; readonly headers: Readonly<Record<string, string>> } {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new Unfilled('its url is not an http(s) URL');
  const headers = Object.fromEntries(
    Object.entries(mapAt(server.headers, 'headers', around)).map(([header, value]) => [header.toLowerCase(), value]),
  );
  const wrong = Object.entries(headers).find(([header, value]) => !isHeader(header, value));
  if (wrong !== undefined) throw new Unfilled(`its header ${JSON.stringify(wrong[0])} cannot be sent`);
  const guessed = new URL(url).pathname.endsWith('/sse') ? 'sse' : 'streamable-http';
  return { backend: { name, transport: transport ?? guessed, url, type: 'entry' }, headers };
}

function isHeader(name: string, value: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what a header value must not have
  return /^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name) && !/[\u0000-\u0008\u000a-\u001f\u007f]/.test(value);
}

async function envFileOf(path: JsonValue | undefined, around: Surroundings): Promise<Record<string, string>> {
  if (path === undefined) return {};
  const file = resolve(around.folder, expand(textAt(path, 'envFile'), around));
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Unfilled(`its envFile ${file} cannot be read`);
  });
  return parseEnv(text) as Record<string, string>;
}

function textAt(value: JsonValue | undefined, key: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new Unfilled(`its "${key}" must be text`);
}

function listAt(value: JsonValue | undefined, key: string): readonly string[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value as string[];
  throw new Unfilled(`its "${key}" must be a list of texts`);
}

function mapAt(value: JsonValue | undefined, key: string, around: Surroundings): Record<string, string> {
  if (value === undefined) return {};
  if (!isObject(value)) throw new Unfilled(`its "${key}" must be an object`);
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      if (typeof one === 'number' || typeof one === 'boolean') return [name, String(one)];
      if (typeof one !== 'string') throw new Unfilled(`its "${key}.${name}" must be text`);
      return [name, expand(one, around)];
    }),
  );
}

/** A name that can stand in front of tool names, not yet taken. */
function workloadName(given: string, taken: ReadonlySet<string>): string {
  const plain = given.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+|-+$/g, '') || 'server';
  let name = plain;
  for (let count = 2; taken.has(name); count++) name = `${plain}-${count}`;
  return name;
}
