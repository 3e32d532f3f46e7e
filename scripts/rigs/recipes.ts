import { join } from 'node:path';
import { buildGo } from './build-go.ts';
import { buildPython } from './build-python.ts';
import { buildRust } from './build-rust.ts';

/** What has to be on the machine; a program that a rig can bring along itself is not listed. */
export type Needed = 'cargo' | 'python3';

/** How a foreign server is built from the versions that its folder under `test/rigs` pins. */
export interface Recipe {
  /** In one line, for the list of rigs. */
  readonly what: string;
  readonly needs: readonly Needed[];
  /**
   * Builds into an empty folder, which is given its final name afterwards.
   * @throws Error when a tool fails; the message ends with what the tool printed
   */
  build(from: string, into: string): Promise<void>;
}

const SERVER = 'examples/servers/everything-server';

/** Name of a rig, which is that of its folder under `test/rigs` -> its recipe. */
export const RECIPES = {
  'go-sdk': {
    what: 'the conformance server of the Go SDK',
    needs: [],
    build: (from, into) =>
      buildGo('github.com/modelcontextprotocol/go-sdk/conformance/everything-server', from, join(into, 'server')),
  },
  'mcp-go': {
    what: 'the conformance server of mcp-go',
    needs: [],
    build: (from, into) => buildGo('github.com/mark3labs/mcp-go/examples/conformance', from, join(into, 'server')),
  },
  'mcp-python-1': {
    what: 'the Everything server of the Python SDK 1.x, which speaks 2025-11-25 only',
    needs: ['python3'],
    build: (from, into) => buildPython(SERVER, from, into),
  },
  'mcp-python-2': {
    what: 'the Everything server of the Python SDK 2.x',
    needs: ['python3'],
    build: (from, into) => buildPython(SERVER, from, into),
  },
  fastmcp: {
    what: 'the conformance server of fastmcp',
    needs: ['python3'],
    build: (from, into) => buildPython('tests/conformance', from, into),
  },
  'rust-sdk': {
    what: 'a server of ours, made with the Rust SDK',
    needs: ['cargo'],
    build: buildRust,
  },
} as const satisfies Readonly<Record<string, Recipe>>;

/** Name of a rig. */
export type RigName = keyof typeof RECIPES;

export const RIG_NAMES = Object.keys(RECIPES) as readonly RigName[];
