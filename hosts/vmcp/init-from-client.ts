import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, resolve } from 'node:path';
import { isObject, type JsonObject, type JsonValue } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { userPlace } from '@toolmgr/plugins/clients';
import { isSecretName, redactedText } from '@toolmgr/plugins/kit/secrets';
import { stringify } from 'yaml';
import { type ClientFile, readClientFile } from '../client-files/client-file.ts';
import { commonEntry, serversIn } from '../client-files/file-shapes.ts';
import { clientPlaces, type FoundFile, findClientFiles } from '../client-files/find-file.ts';
import { FOUND_CLIENTS } from '../client-files/found-clients.ts';
import { joinFiles } from '../client-files/join-files.ts';
import { parseClientText } from '../client-files/parse-client-text.ts';
import { UsageError } from '../shared/usage-error.ts';
import { groupConfig } from './group-config.ts';
import { readConfig } from './read-config.ts';
import { schemaComment } from './schema-comment.ts';
import { sectionsOf } from './sections.ts';
import { nameFrom } from './standalone-defaults.ts';

/** A vmcp file made of client files. */
export interface ClientInit {
  readonly yaml: string;
  readonly backends: number;
  /** What was left out or changed, as sentences. */
  readonly notes: readonly string[];
  /** Environment variables that the file needs, and what each holds. */
  readonly variables: ReadonlyMap<string, string>;
}

/**
 * Creates a vmcp file with the servers of a client file, or of all files of a client. No value of a variable or header is
 * copied: the file names environment variables, which the user sets.
 * @throws UsageError when there is no file or no server, GatewayFault PLAN_INVALID when a file cannot be read
 */
export async function initFromClient(from: string): Promise<ClientInit> {
  const files = await filesOf(from);
  const variables = new Map<string, string>();
  const backends: JsonObject[] = [];
  const timeouts: Record<string, string> = {};
  const references = new Map<string, string>();
  const read = await Promise.all(
    files.map(async (file) => ({ file: file.file, read: await readReferences(file, references) })),
  );
  const joined = joinFiles(
    read.map(({ file, read }) => ({ file, read })),
    undefined,
  );
  const reserved = new Set([...references.values()].flatMap((template) => namedIn(template) ?? []));
  const notes = [...joined.notes];
  for (const { name, command, url, transport, era, timeoutMs } of joined.backends) {
    const copied = command === undefined ? secretInUrl(url ?? '') : secretArgument(command.args ?? []);
    if (copied !== undefined) notes.push(`${name}: ${copied} is copied as it is and may hold a secret`);
    const pick = (key: string, marked: string, what: string): string => {
      return variableFor(variables, reserved, { name, key, template: references.get(marked) ?? marked, what });
    };
    if (timeoutMs !== undefined) timeouts[name] = `${timeoutMs}ms`;
    const rest = era === undefined ? {} : { era };
    if (command === undefined) {
      const headers = Object.entries(joined.headers.get(name) ?? {});
      const headersEnv = Object.fromEntries(
        headers.map(([header, value]) => [header, pick(header, value, `the header ${header} of ${name}`)]),
      );
      backends.push({
        name,
        transport,
        url: url ?? '',
        type: 'entry',
        ...(headers.length === 0 ? {} : { headersEnv }),
        ...rest,
      });
      continue;
    }
    const { file, args = [], env = {}, cwd } = command;
    const envFrom = Object.fromEntries(
      Object.entries(env).map(([key, value]) => [key, pick(key, value, `the variable ${key} of ${name}`)]),
    );
    const needsFolder = isAbsolute(file) || args.some((arg) => /^\.{1,2}\//.test(arg));
    backends.push({
      name,
      transport,
      command: {
        file,
        args: [...args],
        ...(Object.keys(env).length === 0 ? {} : { envFrom }),
        ...(cwd !== undefined && needsFolder ? { cwd } : {}),
      },
      ...rest,
    });
  }
  if (backends.length === 0) {
    throw new UsageError(
      `${from}: no server is left${joined.notes.length === 0 ? '' : `: ${joined.notes.join('; ')}`}`,
    );
  }
  const name = nameFrom(from);
  const config = {
    ...groupConfig(name, name, await sectionsOf(catalogue)),
    operational: {
      ...(Object.keys(timeouts).length === 0 ? {} : { timeouts: { perWorkload: timeouts } }),
      failureHandling: { partialFailureMode: 'best_effort' }, // as with `up`: one server that fails hides no tools of the others
    },
    backends,
  };
  const yaml = `${commentFor(files, variables)}${stringify(config, { lineWidth: 0 })}`;
  await readConfig(yaml, 'the made file', catalogue);
  return { yaml, backends: backends.length, notes, variables };
}

/** Which part of a URL may be a secret. */
function secretInUrl(url: string): string | undefined {
  const named = [...new URL(url).searchParams.keys()].find(isSecretName);
  return named === undefined ? undefined : `the parameter ${named} of its url`;
}

/** Which argument may be a secret: the value of a flag with such a name, or a text in the format of a secret. */
function secretArgument(args: readonly string[]): string | undefined {
  const at = args.findIndex((arg, index) => {
    const [, flag = '', value = args[index + 1]] = /^--?([A-Za-z][\w.-]*)(?:=(.*))?$/s.exec(arg) ?? [];
    return redactedText(arg) !== arg || (isSecretName(flag) && value !== undefined);
  });
  return at === -1 ? undefined : `argument ${at + 1}`;
}

async function filesOf(from: string): Promise<readonly FoundFile[]> {
  const client = FOUND_CLIENTS.find((name) => name === from);
  if (client === undefined) {
    const text = await readFile(from, 'utf8').catch((cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${cause.code})`;
      throw new UsageError(`${from}: ${why}; give a file or one of ${FOUND_CLIENTS.join(', ')}`);
    });
    return [{ file: from, text }];
  }
  const places = clientPlaces(process.cwd(), userPlace(process.env, process.platform, homedir()));
  return (await findClientFiles(places, { client }, hasServers, 'vmcp init --from FILE')).used;
}

async function hasServers({ file, text }: FoundFile): Promise<boolean> {
  const servers = serversIn(await parseClientText(text, file), process.cwd());
  return servers !== undefined && Object.keys(servers).length > 0;
}

/**
 * Reads a file with marks instead of the values of variables, so that no value of the environment is in the result; adds what each
 * mark stands for to `references`, which all files share. Servers that use variables elsewhere than in `env` and `headers` are left
 * out.
 */
async function readReferences({ file, text }: FoundFile, references: Map<string, string>): Promise<ClientFile> {
  const folder = dirname(resolve(file));
  const value = await parseClientText(text, file);
  const servers = serversIn(value, process.cwd()) ?? {};
  const notes: string[] = [];
  const kept: Record<string, JsonValue> = {};
  for (const [name, given] of Object.entries(servers)) {
    const entry = isObject(given) ? commonEntry(given) : given;
    if (!isObject(entry)) {
      kept[name] = entry ?? null;
      continue;
    }
    const { env, headers, envFile, ...rest } = entry;
    const used = VARIABLE.exec(JSON.stringify(rest));
    if (used !== null) {
      notes.push(
        `${name}: left out, it uses \${${used[1]}} outside of env and headers, where a vmcp file has no variables`,
      );
      continue;
    }
    if (envFile !== undefined)
      notes.push(`${name}: its envFile is not read; export its variables and list them in envFrom`);
    kept[name] = { ...rest, ...marks('env', env), ...marks('headers', headers) };
  }
  const read = await readClientFile(JSON.stringify({ mcpServers: kept }), file.replace(/\.toml$/, ''), {
    env: {},
    home: homedir(),
    folder,
  });
  return { ...read, notes: [...notes, ...read.notes] };

  function marks(key: string, values: JsonValue | undefined): JsonObject {
    if (!isObject(values)) return {};
    const marked = Object.entries(values).map(([name, value]) => {
      const mark = `mark-${references.size}-`;
      references.set(mark, String(value));
      return [name, mark];
    });
    return { [key]: Object.fromEntries(marked) };
  }
}

/** A variable of the environment, also with a default; not the folders that are known when the file is made. */
const VARIABLE = /\$\{((?!workspaceFolder|userHome|pathSeparator|\/)[^${}]+)\}/;

/** The variable of a value that is one reference, e.g. `TOKEN` of `${TOKEN}`. */
function namedIn(template: string): string | undefined {
  return /^\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}$/.exec(template)?.[1];
}

/** The variable with a value: the one that the client file names, or one with the name of the key. */
function variableFor(
  variables: Map<string, string>,
  reserved: ReadonlySet<string>,
  { name, key, template, what }: Readonly<Record<'name' | 'key' | 'template' | 'what', string>>,
): string {
  const named = namedIn(template);
  if (named !== undefined) {
    if (!variables.has(named)) variables.set(named, what);
    return named;
  }
  const plain = upper(key);
  const isTaken = (one: string): boolean => variables.has(one) || reserved.has(one);
  const own = isTaken(plain) || HEADERS_OF_MANY.test(key) ? `${upper(name)}_${plain}` : plain;
  let free = own;
  for (let count = 2; isTaken(free); count++) free = `${own}_${count}`;
  variables.set(free, what);
  return free;
}

const HEADERS_OF_MANY = /^(authorization|cookie|x-api-key|api-key)$/i;

function upper(text: string): string {
  return text
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^(?=\d)/, '_')
    .toUpperCase();
}

function commentFor(files: readonly FoundFile[], variables: ReadonlyMap<string, string>): string {
  const lines = [schemaComment(), `# Made by toolmgr vmcp init of ${files.map(({ file }) => file).join(', ')}`];
  if (variables.size > 0) lines.push('# Set these environment variables before you serve the file:');
  for (const [variable, what] of variables) lines.push(`#   ${variable}: ${what}`);
  return `${lines.map((line) => line.replace(/[\r\n\u2028\u2029]/g, ' ')).join('\n')}\n`;
}
