import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import getPort from 'get-port';
import { beforeAll, describe, expect } from 'vitest';
import { blocksOf, type DocBlock } from '../docs/blocks.ts';
import { type LocalRegistry, localRegistry } from '../support/local-registry.ts';
import { proves } from '../support/proves.ts';
import { rig } from '../support/rig.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const PAGE = 'docs/start/embed.md';
const BLOCKS = blocksOf(PAGE, readFileSync(join(import.meta.dirname, '../..', PAGE), 'utf8'));
const found = rig('packaging');
const nodes = process.platform === 'linux' && process.arch === 'x64' ? rig('nodes') : { missing: 'only Linux on x64' };
/** This Node, and the oldest that the packages accept. */
const NODES = [process.execPath, ...('folder' in nodes ? [oldestNode(nodes.folder)] : [])];
const LONG_MS = 600_000; // npm installs: a minute on a quiet machine

const named = (name: string): readonly DocBlock[] => BLOCKS.filter(({ file }) => file === name);
const SHELL = BLOCKS.filter(({ language }) => language === 'sh').map(({ text }) => text);
const TOOLS = SHELL.find((text) => text.startsWith('npx --no toolmgr tools')) ?? '';
/** Gateways and servers of the page, every one at least once. */
const [firstServer, ...servers] = named('server.ts');
const GATEWAYS = named('gateway.ts');
const PAIRS = [
  ...GATEWAYS.map((gateway) => [gateway, firstServer] as const),
  ...servers.map((server) => [GATEWAYS.at(-1), server] as const),
];

describe.skipIf('missing' in found)('the page about embedding, followed in an empty folder with the packages', () => {
  const scratch = temporaryFolderOfFile('embed');
  const project = join(scratch, 'embedded');
  const home = join(scratch, 'home');
  const env = { HOME: home, XDG_STATE_HOME: join(home, 'state'), NO_COLOR: '1', TOOLMGR_STATE_DIR: undefined };
  let registry: LocalRegistry;

  /** Runs lines of the page as they are, with the folder of the packed packages for that of the clone. */
  const run = async (cwd: string, script: string): Promise<string> => {
    const packages = dirname(registry.tarballs[0]?.file ?? '');
    const here = `set -e\n${script.replaceAll('../toolmgr/.scratch/packages', packages)}`;
    const { code, out, err } = await registry.run('sh', ['-c', here], { cwd, env });
    if (code !== 0) throw new Error(`${script}:\n${out}${err}`);
    return out;
  };

  const write = ({ file = '', text }: DocBlock): void => writeFileSync(join(project, file), `${text}\n`);

  beforeAll(async () => {
    if ('missing' in found) return;
    mkdirSync(home);
    registry = await localRegistry();
    const [make = '', ...more] = SHELL.filter((text) => text.includes('npm install'));
    await run(scratch, make);
    for (const text of more) await run(project, text);
    for (const block of BLOCKS) if (block.file !== undefined) write(block);
  }, LONG_MS);

  proves(
    'ask.embedding.page',
    'gives files whose types are correct',
    async () => {
      for (const [at, block] of [...named('gateway.ts'), ...named('server.ts')].entries())
        write({ ...block, file: `variant-${at}.ts` });
      expect(SHELL.join('\n')).toContain('npx tsc ');
      expect(await run(project, 'npx tsc')).toBe('');
    },
    LONG_MS,
  );

  proves(
    'ask.embedding.page',
    'gives servers that list the tools of each gateway, and end on Ctrl-C',
    async () => {
      expect([GATEWAYS.length, servers.length, SHELL.join('\n').includes('\nnode server.ts ')]).toEqual([3, 3, true]);
      for (const [at, [gateway, server]] of PAIRS.entries()) {
        if (gateway === undefined || server === undefined) throw new Error(`${PAGE} has no server`);
        write(gateway);
        write(server);
        const node = NODES[at % NODES.length] ?? '';
        const said = await served(node, project, { ...registry.processEnv, ...env }, (port) =>
          run(project, TOOLS.replace(':3000', `:${port}`)),
        );
        expect(said, `lines ${gateway.line} and ${server.line}, ${node}`).toMatch(/^(?:memory_)?read_graph /m);
      }
    },
    LONG_MS,
  );
});

function oldestNode(folder: string): string {
  return join(folder, 'node_modules/node-22-oldest/bin/node');
}

/** What `use` returns while `node server.ts` listens. @throws Error when the server does not listen, or does not end on SIGINT */
async function served(
  node: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
  use: (port: number) => Promise<string>,
): Promise<string> {
  const port = await getPort();
  const server = spawn(node, ['server.ts'], {
    cwd,
    env: { ...env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(server, 'exit');
  let printed = '';
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (text) => (printed += text));
  try {
    await Promise.race([once(server.stdout, 'data'), ended]);
    expect(printed).toContain(`MCP at http://127.0.0.1:${port}/mcp`);
    return await use(port);
  } finally {
    server.kill('SIGINT');
    expect(await ended, printed).toEqual([0, null]);
  }
}
