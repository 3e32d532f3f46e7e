import { join } from 'node:path';
import type { Era } from '@toolmgr/core';
import getPort from 'get-port';
import type { ServerRig } from '../../scripts/rigs/recipes.ts';
import { type Listening, listening } from '../proof/wire/published.ts';
import type { Program } from '../proof/wire/wire-peer.ts';
import { rig } from './rig.ts';

/** A third-party server that a rig built. */
export interface ForeignServer {
  readonly name: ServerRig;
  /** Revisions that it supports. */
  readonly eras: readonly Era[];
  /** The program for stdio; `undefined` when it has only HTTP. */
  readonly stdio: Program | undefined;
  /** Starts it on a free loopback port for clients of one revision; the Go SDK serves only one of them at a time. */
  start(era: Era): Promise<Listening>;
}

/**
 * Finds a third-party server; `{ missing }` is the reason to skip its tests.
 * @throws Error under `CI`, as `rig` does
 */
export function foreignServer(name: ServerRig): ForeignServer | { readonly missing: string } {
  const found = rig(name);
  if ('missing' in found) return found;
  const { eras, stdio, http } = PROGRAMS[name](found.folder);
  return {
    name,
    eras,
    stdio,
    async start(era) {
      const port = await getPort({ host: '127.0.0.1' });
      return listening(http(port, era), port);
    },
  };
}

interface Programs {
  readonly eras: readonly Era[];
  readonly stdio?: Program;
  http(port: number, era: Era): Program;
}

const LEGACY = '2025-11-25';
const BOTH = [LEGACY, '2026-07-28'] as const;

/** How each server is started; `folder` is the folder of its rig. */
const PROGRAMS: Readonly<Record<ServerRig, (folder: string) => Programs>> = {
  'go-sdk': (folder) => {
    const file = join(folder, 'server');
    const http = (port: number, era: Era) => ({
      file,
      args: ['-http', `127.0.0.1:${port}`, `-stateless=${era !== LEGACY}`],
    });
    return { eras: BOTH, stdio: { file, args: [] }, http };
  },
  'mcp-go': (folder) => ({
    eras: BOTH,
    http: (port) => ({ file: join(folder, 'server'), args: [], env: { CONFORMANCE_ADDR: `127.0.0.1:${port}` } }),
  }),
  'mcp-python-1': (folder) => ({ ...everythingOfPython(folder), eras: [LEGACY] }),
  'mcp-python-2': (folder) => ({ ...everythingOfPython(folder), eras: BOTH }),
  fastmcp: (folder) => {
    const file = join(folder, 'venv/bin/python');
    const script = join(folder, 'server/server.py');
    const run = 'from server import server; server.run(transport="stdio", show_banner=False)';
    return {
      eras: BOTH,
      stdio: { file, args: ['-c', run], env: { PYTHONPATH: join(folder, 'server') } },
      http: (port) => ({ file, args: [script, `${port}`] }),
    };
  },
  'rust-sdk': (folder) => {
    const file = join(folder, 'server');
    return { eras: BOTH, stdio: { file, args: [] }, http: (port) => ({ file, args: [`127.0.0.1:${port}`] }) };
  },
};

function everythingOfPython(folder: string): Omit<Programs, 'eras'> {
  const file = join(folder, 'venv/bin/python');
  const env = { PYTHONPATH: join(folder, 'server') };
  const run = 'from mcp_everything_server.server import mcp; mcp.run("stdio")';
  return {
    stdio: { file, args: ['-c', run], env },
    http: (port) => ({ file, env, args: ['-m', 'mcp_everything_server.server', '--port', `${port}`] }),
  };
}
