import { delimiter, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { isInstalled } from '../../../scripts/rigs/run-tool.ts';
import { inspect } from '../../proof/wire/inspector.ts';
import { everythingOverHttp, type Listening } from '../../proof/wire/published.ts';
import { SDK_CLIENTS } from '../../proof/wire/sdk-clients.ts';
import type { RequirementId } from '../../requirements.ts';
import {
  type ContainerEngine,
  engineMissing,
  importServerImage,
  SERVER_IMAGE,
  startEngine,
} from '../../support/container-engine.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { uvFolder } from '../../support/uv.ts';
import { toolmgrSession } from './toolmgr.ts';

const LONG = 240_000;
const LOCAL_SERVER = join(import.meta.dirname, '../../support/go-small');
const noEngine = engineMissing('docker');
let engine: ContainerEngine | undefined;
const state = temporaryFolderOfFile('forms');
let far: Listening;

beforeAll(async () => {
  far = await everythingOverHttp();
  if (noEngine !== undefined) return;
  engine = await startEngine('docker');
  await importServerImage(engine);
}, LONG);
afterAll(async () => {
  await engine?.[Symbol.asyncDispose]();
  await far?.[Symbol.asyncDispose]();
}, LONG);

const uv = await uvFolder();
const hasGo = ['go', '/usr/local/go/bin/go'].some((go) => isInstalled(go, 'version'));
const noGo = process.env.CI === undefined && !hasGo ? 'no go on this machine' : undefined;
const PATH = ['folder' in uv ? uv.folder : '', process.env.PATH, '/usr/local/go/bin'].join(delimiter);

const session = toolmgrSession();
const toolmgr = (...args: string[]) =>
  session(state, args, state, {
    PATH,
    ...(engine === undefined ? {} : { DOCKER_HOST: `unix://${engine.socket}` }),
  });

/** The image over a transport, with the mode of its server. */
const image = (transport: string, mode: string): string[] => {
  const port = transport === 'stdio' ? [] : ['--target-port', '3001'];
  return ['--transport', transport, '--isolate-network=false', ...port, SERVER_IMAGE, '--', mode];
};

/** One form, and a call of its server. */
interface Form {
  readonly name: string;
  readonly argv: () => readonly string[];
  /** What else it proves. */
  readonly ids?: readonly RequirementId[];
  /** Clients are shown the URL of HTTP+SSE. */
  readonly hasSse?: true;
  /** Why it cannot run on this machine. */
  readonly missing?: string | undefined;
  readonly tool?: readonly [name: string, argument: string, value: string, answer: string];
}

const FORMS: readonly Form[] = [
  {
    name: 'an npm package as a process',
    argv: () => ['--runtime', 'process', 'npx://@modelcontextprotocol/server-everything'],
  },
  {
    name: 'a Python package as a process',
    argv: () => ['--runtime', 'process', 'uvx://mcp-server-time', '--', '--local-timezone', 'UTC'],
    ids: ['run.form.uvx'],
    tool: ['get_current_time', 'timezone', 'Asia/Tokyo', 'Asia/Tokyo'],
    missing: 'missing' in uv ? uv.missing : undefined,
  },
  {
    name: 'a Go folder as a process',
    argv: () => ['--runtime', 'process', `go://${relative(state, LOCAL_SERVER)}`],
    tool: ['go_echo', 'text', 'hello', 'hello'],
    missing: noGo,
  },
  { name: 'an image over stdio', argv: () => image('stdio', 'stdio'), missing: noEngine },
  {
    name: 'an image over stdio with the proxy mode sse',
    argv: () => ['--proxy-mode', 'sse', ...image('stdio', 'stdio')],
    hasSse: true,
    missing: noEngine,
  },
  { name: 'an image over streamable HTTP', argv: () => image('streamable-http', 'streamableHttp'), missing: noEngine },
  { name: 'an image over SSE', argv: () => image('sse', 'sse'), hasSse: true, missing: noEngine },
  { name: 'a URL', argv: () => [far.url] },
];

const ECHO = ['echo', 'message', 'hi', 'Echo: hi'] as const;

describe.each(FORMS)('$name', ({ argv, ids = [], hasSse = false, missing, tool = ECHO }) => {
  const declare = missing === undefined ? proves : proves.skipIf(true, missing);
  const [name, argument, value, answer] = tool;
  declare(
    ['ask.run.forms-inspected', 'ask.run.forms-both-revisions', ...ids],
    'is called by the Inspector, over HTTP+SSE too where it is served, and by clients of both revisions',
    async () => {
      const ran = await toolmgr('run', '--name', 'it', ...argv());
      try {
        expect(ran, ran.err).toMatchObject({ code: 0 });
        const url = /runs at (\S+)/.exec(ran.out)?.[1] ?? '';
        expect(url.endsWith(hasSse ? '/sse' : '/mcp'), url).toBe(true);
        const streamable = url.replace(/sse$/, 'mcp');
        const call = ['--tool-name', name, '--tool-arg', `${argument}=${value}`];
        // a start of the Inspector takes long, and clients of both revisions follow
        const inspected = [
          ...(hasSse ? [await inspect(url, 'legacy', 'tools/call', call)] : []),
          await inspect(streamable, 'modern', 'tools/call', call),
        ];
        for (const { result, printed } of inspected) expect(JSON.stringify(result), printed).toContain(answer);
        for (const generation of ['SDK 1.x', 'SDK 2.x, modern'] as const) {
          await using client = await SDK_CLIENTS[generation].connect(streamable);
          expect(await client.call(name, { [argument]: value })).toContain(answer);
        }
      } finally {
        await toolmgr('rm', '--force', 'it');
      }
    },
    LONG,
  );
});
