/** The operating systems of the table, as `process.platform` names them; every other one counts as Linux. */
export type Platform = 'linux' | 'darwin' | 'win32';

/**
 * A path below a folder of the user.
 *
 * `home`: the home folder. `config`: `~/.config` or `XDG_CONFIG_HOME`. `data`: where applications keep their data: `~/.config`
 * or `XDG_CONFIG_HOME`, `~/Library/Application Support`, `%APPDATA%`.
 */
export type UserPath = readonly ['home' | 'config' | 'data', ...parts: string[]];

/** How the client chooses the transport of a server. */
export type EntryTransport = 'streamable-http' | 'sse';

/**
 * How an entry says which header holds a variable of the environment: its name stands between `before` and `after`.
 *
 * `codex` and `vibe` have members of their own; `none`: the client has no such reference, so entries have no headers, because a
 * token is never written into a file.
 */
export type HeaderForm =
  | { readonly form: 'none' }
  | { readonly form: 'pattern'; readonly path: readonly string[]; readonly before: string; readonly after: string }
  | { readonly form: 'codex' }
  | { readonly form: 'vibe' };

/** Where a client looks for skills; absent: it has none. The project folder is below the root of the project. */
export interface SkillFolders {
  /** `undefined` on a system where the client has no folder for the user. */
  readonly user: Readonly<Partial<Record<Platform, UserPath>>>;
  readonly project: readonly string[];
}

/** One application that is an MCP client. */
export interface ClientRow {
  /** Name for people. */
  readonly title: string;
  /** The development of the application has ended. */
  readonly deprecated?: true;
  /** Its configuration file. */
  readonly file: Readonly<Record<Platform, UserPath>>;
  readonly format: 'json' | 'yaml' | 'toml';
  /** The member of the file that holds the servers: a map by name, or a list of objects with `name`. */
  readonly key: string;
  readonly shape: 'map' | 'list';
  readonly urlField: Readonly<Record<EntryTransport, string>>;
  /** Absent: no type is written. */
  readonly typeField?: Readonly<{ name: string } & Record<EntryTransport, string>>;
  /** Further members of an entry; `name` is replaced by the name of the server. */
  readonly further?: Readonly<Record<string, string | number | boolean>>;
  readonly headers: HeaderForm;
  readonly skills?: SkillFolders;
  readonly supportsPlugins: boolean;
  /** The client is installed when the folder of its file exists, or the file itself. */
  readonly installedBy: 'folder' | 'file';
}
