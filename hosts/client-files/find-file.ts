import { readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type ClientType, configPath, type UserPlace } from '@toolmgr/plugins/clients';
import { ownCommand } from '../shared/own-command.ts';
import { UsageError } from '../shared/usage-error.ts';
import { FOUND_CLIENTS, type FoundClient } from './found-clients.ts';

/** Where a client may have a configuration file. */
export interface ClientPlace {
  readonly client: FoundClient | 'any';
  readonly file: string;
  /** The file belongs to the project folder, not to the user. */
  readonly isOfProject: boolean;
}

/** A configuration file and its text. */
export interface FoundFile {
  readonly file: string;
  readonly text: string;
}

/** The files of all clients, in search order: those of the project folder first. */
export function clientPlaces(folder: string, user: UserPlace): readonly ClientPlace[] {
  const project = PROJECT_FILES.map(([client, ...path]) => ({
    client,
    file: join(folder, ...path),
    isOfProject: true,
  }));
  const own = FOUND_CLIENTS.map((client) => ({ client, file: userFile(client, user), isOfProject: false }));
  // the project folder may be the home folder
  const isOwn = (file: string): boolean => own.some((other) => other.file === file);
  return [
    ...project.map((place) => (isOwn(place.file) ? { ...place, isOfProject: false } : place)),
    ...own.filter(({ file }) => project.every((other) => other.file !== file)),
  ];
}

/** Reads the files that exist, in their order; `hasServers` leaves out those without servers. */
export async function readFound(
  places: readonly ClientPlace[],
  hasServers: (found: FoundFile) => boolean | Promise<boolean>,
): Promise<readonly (ClientPlace & FoundFile)[]> {
  const all = await Promise.all(
    places.map(async (place) => {
      const text = await readFoundFile(place.file).catch(() => undefined);
      return text === undefined ? [] : [{ ...place, text }];
    }),
  );
  const found = all.flat();
  const isUsed = await Promise.all(found.map(hasServers));
  return found.filter((_, at) => isUsed[at]);
}

/**
 * Reads a file that the user did not name. A cloned repository may have a link to a device or a named pipe in its place.
 * @throws Error of the file system, with its code
 */
export async function readFoundFile(file: string): Promise<string> {
  const found = await stat(file);
  if (!found.isFile()) throw Object.assign(new Error(`${file} is not a regular file`), { code: 'EINVAL' });
  if (found.size > MAX_FILE_BYTES) throw Object.assign(new Error(`${file} is too large`), { code: 'EFBIG' });
  return readFile(file, 'utf8');
}

/** Claude Code keeps its history in the same file as its servers. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** What the flags of `up` choose. */
export interface FileChoice {
  readonly client?: FoundClient | undefined;
  readonly all?: boolean | undefined;
}

/**
 * The files to serve: all of a client with `client`, all with `all`, otherwise the first one: a file of the project before files
 * of the user. `giveOne` is the command for a file elsewhere.
 * @throws UsageError when there is none
 */
export async function findClientFiles(
  places: readonly ClientPlace[],
  { client, all }: FileChoice,
  hasServers: (found: FoundFile) => boolean | Promise<boolean>,
  giveOne = 'up FILE',
): Promise<{ readonly used: readonly (ClientPlace & FoundFile)[]; readonly others: readonly string[] }> {
  const asked = client === undefined ? places : places.filter((place) => place.client === client);
  const found = await readFound(asked, hasServers);
  if (found.length === 0) {
    const of =
      client === undefined ? 'no client configuration with servers' : `no configuration of ${client} with servers`;
    throw new UsageError(
      `${of} was found; looked for ${asked.map(({ file }) => shortPath(file)).join(', ')}. Give one: ${ownCommand(giveOne)}`,
    );
  }
  const used = all === true || client !== undefined ? found : found.slice(0, 1);
  return { used, others: found.slice(used.length).map(({ file }) => file) };
}

/** Relative to the working folder when the file is below it. */
export function shortPath(file: string): string {
  const short = relative(process.cwd(), file);
  return short === '' || short.startsWith('..') ? file : short;
}

const PROJECT_FILES: readonly (readonly [ClientPlace['client'], ...path: string[]])[] = [
  ['claude-code', '.mcp.json'],
  ['any', 'mcp.json'],
  ['vscode', '.vscode', 'mcp.json'],
  ['cursor', '.cursor', 'mcp.json'],
  ['zed', '.zed', 'settings.json'],
  ['codex', '.codex', 'config.toml'],
];

function userFile(client: FoundClient, user: UserPlace): string {
  return client === 'claude-desktop' ? claudeDesktop(user) : configPath(client satisfies ClientType, user);
}

/** Beside the user files of VS Code, which are in the folder of application data too. */
function claudeDesktop(user: UserPlace): string {
  return join(configPath('vscode', user), '..', '..', '..', 'Claude', 'claude_desktop_config.json');
}
