import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createGateway, createLog, type PlanInput, type Plugin } from '@toolmgr/core';
import { type FakeServer, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import type { z } from 'zod';
import type optimizer from '../../plugins/optimizer/tools/index.ts';
import { temporaryFolderOfFile } from './temporary-folder.ts';

/** The section `optimizer` of a file. */
export type Settings = z.input<typeof optimizer.config>;

/** Result of a search. */
export interface Found {
  readonly tools: readonly { readonly name: string; readonly inputSchema: object }[];
  readonly token_metrics: {
    readonly baseline_tokens: number;
    readonly returned_tokens: number;
    readonly savings_percent: number;
  };
  readonly notice?: string;
}

/** Folder for the data of the gateways of one test file. */
export const STATE = temporaryFolderOfFile('optimizer');
process.env.TOOLMGR_STATE_DIR = STATE;

/** A gateway with the optimizer, some backends and plugins of the test. */
export function optimized(
  settings: Settings,
  backends: Readonly<Record<string, FakeServer>>,
  { plugins = [], uses = [] }: { plugins?: readonly Plugin[]; uses?: PlanInput['plugins'] } = {},
): Promise<TestGateway> {
  return testGateway({
    catalogue,
    plugins,
    backends,
    plan: {
      plugins: [
        ...uses,
        { use: 'optimizer/search' },
        { use: 'optimizer/embed-tei' },
        { use: 'optimizer/embed-openai' },
        { use: 'optimizer/embed-local' },
        { use: 'optimizer/tools', with: settings },
      ],
    },
  });
}

/** A client of the SDK at one of the paths of a gateway in memory. */
export async function sdkClient(
  { gateway }: TestGateway,
  {
    path = '/mcp',
    headers = {},
    version,
  }: { path?: string; headers?: Readonly<Record<string, string>>; version?: string } = {},
): Promise<Client> {
  const speaks = version === undefined ? {} : { supportedProtocolVersions: [version] };
  const client = new Client({ name: 'sdk', version: '1' }, speaks);
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`http://localhost${path}`), {
      fetch: (url, init) => gateway.fetch(new Request(url, init)),
      requestInit: { headers },
    }),
  );
  return client;
}

/** Searches, and checks that the text has the same tools as the structured content. */
export async function find(client: Client, text: string, more: object = {}): Promise<Found> {
  const answer = await client.callTool({ name: 'find_tool', arguments: { tool_description: text, ...more } });
  const [block] = answer.content as { type: string; text: string }[];
  if (answer.isError) throw new Error(block?.text);
  const said = answer.structuredContent as unknown as Found;
  const lines = block?.text.split('\n').slice(1) ?? [];
  const named = lines.flatMap((line) => /^- ([^(]+)\(/.exec(line)?.[1] ?? []);
  if (String(named) !== String(said.tools.map(({ name }) => name))) throw new Error('text and structure differ');
  return said;
}

/** Names of found tools, best first. */
export async function names(client: Client, text: string, more: object = {}): Promise<string[]> {
  return (await find(client, text, more)).tools.map(({ name }) => name);
}

/** The first text of a result. */
export async function said(client: Client, name: string, parameters?: unknown): Promise<string> {
  const answer = await client.callTool({ name: 'call_tool', arguments: { tool_name: name, parameters } });
  return (answer.content as { text: string }[])[0]?.text ?? '';
}

/** Tries to start a gateway with invalid settings; returns the error message. */
export async function refusedAtStart(settings: object, uses: PlanInput['plugins'] = []): Promise<string> {
  try {
    const gateway = await createGateway(
      {
        name: 'refused',
        plugins: [
          { use: 'incoming-auth/anonymous' },
          { use: 'outgoing-auth/unauthenticated' },
          ...uses,
          { use: 'optimizer/tools', with: settings },
        ],
      },
      { catalogue, log: createLog('error', () => {}) },
    );
    await gateway.stop();
    return 'it started';
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
}
