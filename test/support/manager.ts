import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog, definePlugin, type Plugin } from '@toolmgr/core';
import { type Operation, operations as operationsSlot, pageViews } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';
import { type ManagerOptions, openManager } from '../../hosts/manager/open-manager.ts';
import { DEFAULT_PLAN } from '../../hosts/manager/plan.ts';

/** How {@link startManager} starts a manager. */
export interface StartManager extends Partial<Omit<ManagerOptions, 'env' | 'state'>> {
  /** Operations, or the function that makes them; default: those of the default plan, without the supervisor. */
  readonly operations?: readonly Operation[] | ((parts: { readonly state: string }) => readonly Operation[]);
  /** Folder of HOME, XDG and state; default: a temporary one, which is removed. */
  readonly home?: string;
  /** More environment variables, while the manager runs. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** An answer. `body` is parsed when it is JSON. */
export interface ManagerAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of any shape
  readonly body: any;
  readonly text: string;
}

/** A manager on a real socket, with folders of its own. */
export interface StartedManager extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly home: string;
  /** The state folder. */
  readonly state: string;
  readonly operations: readonly Operation[];
  /** Lines of the log. */
  readonly logged: readonly string[];
  /** Sends a request with the token. `body` is sent as JSON. */
  request(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ManagerAnswer>;
  stop(): Promise<void>;
}

/**
 * Starts the real host in this process, on a port of 127.0.0.1. While it runs, HOME, the XDG folders and `TOOLMGR_STATE_DIR`
 * of this process are folders below `home`. Answers that do not fit their schema become a 500.
 */
export async function startManager({ operations, home, env, ...given }: StartManager = {}): Promise<StartedManager> {
  const folder = home ?? (await mkdtemp(join(tmpdir(), 'toolmgr-manager-')));
  const restore = setEnvironment({ ...ownFolders(folder), ...env });
  await mkdir(join(folder, 'state', 'toolmgr'), { recursive: true, mode: 0o700 });
  const logged: string[] = [];
  const state = join(folder, 'state', 'toolmgr');
  const manager = await openManager({
    state,
    env: process.env,
    version: '0.0.0-test',
    log: createLog('debug', (line) => logged.push(line)),
    listen: { host: '127.0.0.1', port: 0 },
    checksAnswers: true,
    ...(operations === undefined
      ? { plan: withoutSupervisor }
      : inPlan(typeof operations === 'function' ? operations({ state }) : operations)),
    ...given,
  }).catch((cause) => {
    restore();
    throw cause;
  });
  const stop = async (): Promise<void> => {
    await manager.stop();
    restore();
    if (home === undefined) await rm(folder, { recursive: true, force: true });
  };
  return {
    url: manager.url,
    token: manager.token,
    home: folder,
    state,
    operations: manager.operations,
    logged,
    request: (method, path, body, headers) => send(manager.url, manager.token, method, path, body, headers),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

const withoutSupervisor = DEFAULT_PLAN.map((entry) =>
  entry.use === 'workloads' ? { ...entry, with: { supervise: false } } : entry,
);

/** Every view of the page. */
const VIEWS = ['workloads', 'browse', 'playground', 'calls', 'endpoint', 'clients', 'secrets', 'skills', 'pins'];

/** The plan of a manager with these operations only. */
function inPlan(own: readonly Operation[]): Pick<ManagerOptions, 'plan' | 'inline'> {
  const plugin: Plugin = definePlugin({
    address: 'tested',
    config: z.strictObject({}),
    apply(core) {
      core.slot(operationsSlot).register('tested', own);
      const views = VIEWS.map((name, order) => ({ name, title: name, order }));
      core.slot(pageViews).register('tested', views);
    },
  });
  return { plan: [{ use: 'tested' }], inline: [plugin] };
}

/** Folders below `home` for a process of its own, e.g. with `startCli`. */
export function ownFolders(home: string): Readonly<Record<string, string | undefined>> {
  return {
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CACHE_HOME: join(home, 'cache'),
    TOOLMGR_STATE_DIR: join(home, 'state', 'toolmgr'),
    TOOLMGR_RUNTIME: 'process',
    DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent',
  };
}

/** Sends one request to a manager. */
export async function send(
  url: string,
  token: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<ManagerAnswer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}

function setEnvironment(values: Readonly<Record<string, string | undefined>>): () => void {
  const before = Object.fromEntries(Object.keys(values).map((name) => [name, process.env[name]]));
  const set = (all: Readonly<Record<string, string | undefined>>): void => {
    for (const [name, value] of Object.entries(all)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  set(values);
  return () => set(before);
}
