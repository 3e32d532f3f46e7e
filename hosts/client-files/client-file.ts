import { readFile } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import {
  type Backend,
  FIELD_NAME,
  FIELD_VALUE,
  GatewayFault,
  isObject,
  type JsonObject,
  type JsonValue,
} from '@toolmgr/core';
import { callTimeoutFrom } from './call-timeout.ts';
import { separatedCommand } from './command-line.ts';
import { ERAS, type EraSetting } from './eras.ts';
import { type ExpansionContext, expand, UnusableServer } from './expand.ts';
import { commonEntry, serversIn } from './file-shapes.ts';
import { parseClientText } from './parse-client-text.ts';

/** Content of a client configuration file. */
export interface ClientFile {
  readonly backends: readonly Backend[];
  /** Request headers for remote servers, by backend name; lower-case header names. Values may be secret. */
  readonly headers: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Notes about servers that are left out and settings that have no effect. */
  readonly notes: readonly string[];
}

/** Names of transports that client files use. */
const TRANSPORTS: Readonly<Record<string, Backend['transport']>> = {
  stdio: 'stdio',
  local: 'stdio', // Copilot
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
  'source', // Zed: who added the server
]);

/**
 * Reads a client configuration file: JSON or, with the suffix `.toml`, TOML. Comments and trailing commas are allowed; variables are expanded.
 *
 * A server with a missing variable or a wrong shape is left out with a note; the others are served.
 * @throws GatewayFault PLAN_INVALID when the text is not JSON or TOML, or has no list of servers
 */
export async function readClientFile(text: string, file: string, context: ExpansionContext): Promise<ClientFile> {
  const servers = serversIn(await parseClientText(text, file), context.folder);
  if (servers === undefined) {
    throw new GatewayFault(
      'PLAN_INVALID',
      `${file}: there are no servers: expected {"mcpServers": {"name": {"command": …} or {"url": …}}}`,
    );
  }
  const backends: Backend[] = [];
  const headers = new Map<string, Readonly<Record<string, string>>>();
  const notes: string[] = [];
  const taken = new Set<string>();
  for (const [given, server] of Object.entries(servers)) {
    const name = uniqueName(given, taken);
    try {
      const read = await readServer(name, isObject(server) ? commonEntry(server, context.env) : server, context);
      if (typeof read === 'string') {
        notes.push(`${given}: ${read}`);
        continue;
      }
      if (name !== given)
        notes.push(`${given}: served as ${name}, because a name has only letters, digits, ".", "_" and "-"`);
      notes.push(...read.notes.map((note) => `${given}: ${note}`));
      taken.add(name);
      backends.push(read.backend);
      if (Object.keys(read.headers).length > 0) headers.set(name, read.headers);
    } catch (cause) {
      if (!(cause instanceof UnusableServer)) throw cause;
      notes.push(`${given}: left out, ${cause.message}`);
    }
  }
  return { backends, headers, notes };
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
  context: ExpansionContext,
): Promise<ReadServer | string> {
  if (!isObject(server)) return 'left out, expected an object';
  const { era } = server;
  if (era !== undefined && !isEra(era)) {
    return `left out, its "era" is ${JSON.stringify(era)}: expected ${ERAS.join(', ')}`;
  }
  const read = await readKind(name, server, context);
  return typeof read === 'string' || era === undefined ? read : { ...read, backend: { ...read.backend, era } };
}

async function readKind(name: string, server: JsonObject, context: ExpansionContext): Promise<ReadServer | string> {
  if (server.disabled === true || server.enabled === false) return 'left out, it is disabled in the file';
  const notes = Object.keys(server)
    .filter((key) => !READ_KEYS.has(key))
    .map((key) => `"${key}" is a setting of the client and has no effect here`);
  notes.push(...unexpanded(server, 'env'), ...unexpanded(server, 'headers'));
  const kind = server.type ?? server.transport;
  const transport = typeof kind === 'string' ? TRANSPORTS[kind] : undefined;
  if (kind !== undefined && transport === undefined)
    return `left out, its transport ${JSON.stringify(kind)} is unknown`;
  const url = URL_KEYS.map((key) => server[key]).find((one) => one !== undefined);
  if (server.command !== undefined && transport !== 'sse' && transport !== 'streamable-http') {
    return {
      backend: { ...(await commandBackend(name, server, context)), ...timeoutOf(server, notes) },
      headers: {},
      notes,
    };
  }
  if (typeof url !== 'string') return 'left out, it has neither "command" nor "url"';
  const { backend, headers } = remoteBackend(name, expand(url, context), transport, server, context);
  return { backend: { ...backend, ...timeoutOf(server, notes) }, headers, notes };
}

/** Notes about values such as `$NAME`, which Gemini CLI expands. They may be secrets that begin with `$`, so no note has a value. */
function unexpanded(server: JsonObject, key: 'env' | 'headers'): readonly string[] {
  const values = server[key];
  if (!isObject(values)) return [];
  return Object.entries(values)
    .filter(([, value]) => typeof value === 'string' && BARE_VARIABLE.test(value))
    .map(([name]) => `its "${key}.${name}" is used as written: a variable is written \${NAME}, not $NAME`);
}

const BARE_VARIABLE = /^(?:Bearer )?\$[A-Za-z_][A-Za-z0-9_]*$/;

/** The call timeout of a server. Adds a note when a number is read as seconds or is invalid. */
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

async function commandBackend(name: string, server: JsonObject, context: ExpansionContext): Promise<Backend> {
  const written = textAt(server.command, 'command');
  const file = expand(written, context);
  const args = listAt(server.args, 'args').map((arg) => expand(arg, context));
  const cwd =
    server.cwd === undefined ? context.folder : resolve(context.folder, expand(textAt(server.cwd, 'cwd'), context));
  const instead = await separatedCommand({ written, file, args, cwd, path: context.env.PATH ?? '' });
  if (instead !== undefined) throw new UnusableServer(`its "command" is a whole command line; write ${instead}`);
  const env = { ...(await envFileOf(server.envFile, context)), ...mapAt(server.env, 'env', context) };
  return {
    name,
    transport: 'stdio',
    // a relative path is relative to the working folder; a bare name is looked up on PATH
    command: { file: file.includes('/') && !isAbsolute(file) ? resolve(cwd, file) : file, args, env, cwd },
  };
}

function remoteBackend(
  name: string,
  url: string,
  transport: Backend['transport'] | undefined,
  server: JsonObject,
  context: ExpansionContext,
): { readonly backend: Backend; readonly headers: Readonly<Record<string, string>> } {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new UnusableServer('its url is not an http(s) URL');
  const headers = Object.fromEntries(
    Object.entries(mapAt(server.headers, 'headers', context)).map(([header, value]) => [header.toLowerCase(), value]),
  );
  const wrong = Object.entries(headers).find(([header, value]) => !FIELD_NAME.test(header) || !FIELD_VALUE.test(value));
  if (wrong !== undefined) throw new UnusableServer(`its header ${JSON.stringify(wrong[0])} cannot be sent`);
  const guessed = new URL(url).pathname.endsWith('/sse') ? 'sse' : 'streamable-http';
  return { backend: { name, transport: transport ?? guessed, url, type: 'entry' }, headers };
}

async function envFileOf(path: JsonValue | undefined, context: ExpansionContext): Promise<Record<string, string>> {
  if (path === undefined) return {};
  const file = resolve(context.folder, expand(textAt(path, 'envFile'), context));
  const text = await readFile(file, 'utf8').catch(() => {
    throw new UnusableServer(`its envFile ${file} cannot be read`);
  });
  return parseEnv(text) as Record<string, string>;
}

function textAt(value: JsonValue | undefined, key: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new UnusableServer(`its "${key}" must be text`);
}

function listAt(value: JsonValue | undefined, key: string): readonly string[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value as string[];
  throw new UnusableServer(`its "${key}" must be a list of texts`);
}

function mapAt(value: JsonValue | undefined, key: string, context: ExpansionContext): Record<string, string> {
  if (value === undefined) return {};
  if (!isObject(value)) throw new UnusableServer(`its "${key}" must be an object`);
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      if (typeof one === 'number' || typeof one === 'boolean') return [name, String(one)];
      if (typeof one !== 'string') throw new UnusableServer(`its "${key}.${name}" must be text`);
      return [name, expand(one, context)];
    }),
  );
}

/** A unique name that is valid as a prefix of tool names. */
function uniqueName(given: string, taken: ReadonlySet<string>): string {
  const plain = given.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+|-+$/g, '') || 'server';
  let name = plain;
  for (let count = 2; taken.has(name); count++) name = `${plain}-${count}`;
  return name;
}
