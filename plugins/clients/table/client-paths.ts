import { stat } from 'node:fs/promises';
import { posix, win32 } from 'node:path';
import type { Platform, UserPath } from './client-row.ts';
import { type ClientType, clientRow } from './client-table.ts';

/** Where the folders of a user are: everything that the paths of clients depend on. */
export interface UserPlace {
  readonly platform: Platform;
  /** Absolute path of the home folder. */
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Reads the place from a process. */
export function userPlace(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
  home: string,
): UserPlace {
  const known = platform === 'darwin' || platform === 'win32' ? platform : 'linux';
  const set = known === 'win32' ? env.USERPROFILE : env.HOME;
  return { platform: known, env, home: set !== undefined && isAbsolute(known, set) ? set : home };
}

/** Absolute path of the configuration file of a client. Pure: nothing is read. */
export function configPath(type: ClientType, place: UserPlace): string {
  return absolute(clientRow(type).file[place.platform], place);
}

/** Absolute path of the folder with the user's skills for a client; `undefined` when the client has none. */
export function userSkillFolder(type: ClientType, place: UserPlace): string | undefined {
  const path = clientRow(type).skills?.user[place.platform];
  return path === undefined ? undefined : absolute(path, place);
}

/** Path of the folder with the skills of a project, below its root, with `/`; `undefined` when the client has none. */
export function projectSkillFolder(type: ClientType): string | undefined {
  return clientRow(type).skills?.project.join('/');
}

/** Whether skills can be installed for a client on this system. */
export function supportsSkills(type: ClientType): boolean {
  return clientRow(type).skills !== undefined;
}

/** Whether the client is on this machine. */
export async function isInstalled(type: ClientType, place: UserPlace): Promise<boolean> {
  const path = configPath(type, place);
  const { installedBy } = clientRow(type);
  const found = await stat(installedBy === 'file' ? path : paths(place).dirname(path)).catch(() => undefined);
  return found !== undefined && (installedBy === 'file' ? found.isFile() : found.isDirectory());
}

/** The clients on this machine, in the order of the table. */
export async function installedClients(types: readonly ClientType[], place: UserPlace): Promise<readonly ClientType[]> {
  const found = await Promise.all(types.map((type) => isInstalled(type, place)));
  return types.filter((_, index) => found[index]);
}

function absolute([folder, ...parts]: UserPath, place: UserPlace): string {
  return paths(place).join(FOLDERS[folder](place), ...parts);
}

const FOLDERS: Readonly<Record<UserPath[0], (place: UserPlace) => string>> = {
  home: ({ home }) => home,
  config: (place) => configFolder(place),
  data: (place) => {
    if (place.platform === 'linux') return configFolder(place);
    const { platform, home, env } = place;
    if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support');
    const roaming = env.APPDATA;
    return roaming !== undefined && isAbsolute(platform, roaming) ? roaming : win32.join(home, 'AppData', 'Roaming');
  },
};

function configFolder({ platform, home, env }: UserPlace): string {
  // XDG base directory specification: a relative path is ignored
  const given = platform === 'linux' ? env.XDG_CONFIG_HOME : undefined;
  if (given !== undefined && isAbsolute(platform, given)) return given;
  return (platform === 'win32' ? win32 : posix).join(home, '.config');
}

function paths({ platform }: UserPlace) {
  return platform === 'win32' ? win32 : posix;
}

function isAbsolute(platform: Platform, path: string): boolean {
  return (platform === 'win32' ? win32 : posix).isAbsolute(path);
}
