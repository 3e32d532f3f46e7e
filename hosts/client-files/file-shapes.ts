import { isObject, type JsonObject, type JsonValue } from '@toolmgr/core';

/** Where a file lists servers: Claude and Cursor use `mcpServers`, VS Code `servers` (in its settings below `mcp`), Zed `context_servers`, Codex `mcp_servers`. */
const SERVER_PATHS = [
  ['mcpServers'],
  ['servers'],
  ['mcp', 'servers'],
  ['mcp', 'mcpServers'],
  ['context_servers'],
  ['mcp_servers'],
] as const;

/**
 * The servers of a file by name, as the client wrote them; `undefined` when it has no list of servers.
 *
 * Shape: in the file of Claude Code the servers of the project `folder` come in addition; those that are switched off for the
 * project are `disabled`.
 */
export function serversIn(value: JsonValue, folder: string): JsonObject | undefined {
  const listed = SERVER_PATHS.map((path) => at(value, path)).find(isObject);
  const project = at(value, ['projects', folder]);
  if (!isObject(project)) return listed;
  const own = isObject(project.mcpServers) ? project.mcpServers : {};
  const off = Array.isArray(project.disabledMcpServers) ? project.disabledMcpServers : [];
  const joined = { ...listed, ...own };
  if (listed === undefined && Object.keys(own).length === 0) return undefined;
  return Object.fromEntries(
    Object.entries(joined).map(([name, server]) => [
      name,
      off.includes(name) && isObject(server) ? { ...server, disabled: true } : server,
    ]),
  ) as JsonObject;
}

function at(value: JsonValue, path: readonly string[]): JsonValue | undefined {
  let found: JsonValue | undefined = value;
  for (const key of path) found = isObject(found) ? found[key] : undefined;
  return found;
}

/**
 * An entry with the keys that most clients use: entries of Zed have their command as an object, those of Codex keys of their own.
 * Codex passes on a variable only when it is set; without `env` all that it names count as set. `null` for arguments, variables or headers counts as absent.
 */
export function commonEntry(entry: JsonObject, env?: Readonly<Record<string, string | undefined>>): JsonObject {
  const { command } = entry;
  const flat = isObject(command) ? defined({ ...entry, command: undefined, ...zedCommand(command) }) : entry;
  const isSet = (name: JsonValue): boolean => env === undefined || Boolean(env[String(name)]);
  return withoutNulls(isOfCodex(flat) ? fromCodex(flat, isSet) : flat);
}

/** VS Code and Zed write `null` for what is not given, also in `env`. */
function withoutNulls(entry: JsonObject): JsonObject {
  const { env } = entry;
  const kept = Object.entries(entry).filter(([key, value]) => value !== null || !MAY_BE_NULL.has(key));
  const set = isObject(env) ? Object.entries(env).filter(([, value]) => value !== null) : undefined;
  return { ...Object.fromEntries(kept), ...(set === undefined ? {} : { env: Object.fromEntries(set) }) } as JsonObject;
}

const MAY_BE_NULL: ReadonlySet<string> = new Set(['args', 'env', 'cwd', 'envFile', 'headers']);

function zedCommand({ path, args, env }: JsonObject): JsonObject {
  return defined({ command: path, args, env });
}

const CODEX_KEYS = [
  'bearer_token_env_var',
  'http_headers',
  'env_http_headers',
  'env_vars',
  'tool_timeout_sec',
  'startup_timeout_sec',
  'startup_timeout_ms',
];

function isOfCodex(entry: JsonObject): boolean {
  return CODEX_KEYS.some((key) => entry[key] !== undefined);
}

/** Codex names environment variables where other clients write `${NAME}`. */
function fromCodex(entry: JsonObject, isSet: (name: JsonValue) => boolean): JsonObject {
  const { bearer_token_env_var: bearer, http_headers: plain, env_http_headers: fromEnv, env_vars: passed } = entry;
  const { tool_timeout_sec: seconds } = entry;
  const rest = Object.fromEntries(Object.entries(entry).filter(([key]) => !CODEX_KEYS.includes(key)));
  const headers = {
    ...(isObject(plain) ? plain : {}),
    ...(isObject(fromEnv) ? referencesOf(Object.entries(fromEnv), isSet) : {}),
    ...(typeof bearer === 'string' ? { Authorization: `Bearer ${reference(bearer)}` } : {}),
  };
  const names = Array.isArray(passed) ? passed.map((one) => (isObject(one) ? one.name : one)) : []; // a name, or {name, source}
  const texts = names.filter((name) => typeof name === 'string');
  const env = {
    ...referencesOf(
      texts.map((name) => [name, name]),
      isSet,
    ),
    ...(isObject(entry.env) ? entry.env : {}),
  };
  return defined({
    ...rest,
    headers: Object.keys(headers).length === 0 ? undefined : headers,
    env: Object.keys(env).length === 0 ? undefined : env,
    timeout: typeof seconds === 'number' ? `${seconds}s` : undefined,
  });
}

function reference(name: JsonValue): string {
  return `\${${String(name)}}`;
}

function referencesOf(
  names: readonly (readonly [key: string, name: JsonValue | undefined])[],
  isSet: (name: JsonValue) => boolean,
): JsonObject {
  return Object.fromEntries(
    names.flatMap(([key, name]) => (name !== undefined && isSet(name) ? [[key, reference(name)]] : [])),
  );
}

function defined(entry: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined)) as JsonObject;
}
