// The path of one tools/call through the gateway: files, calls to lower layers, and calls back to higher ones.
// Runs the gateway with the plugins of the bench, with the backend of the bench in both eras, and with clients of both.
// Flags: --audit adds the plugin of that name; --json prints the figures as JSON; --calls prints the files, the calls
// between them in order, and those that cross layers.
import { request as httpRequest } from 'node:http';
import { parseArgs } from 'node:util';
import { createGateway } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { serveGateway } from '../../hosts/http/listen.ts';
import { layerOf } from '../support/architecture.ts';
import { type NotedCall, recordCalls } from '../support/note-calls.ts';
import type { LoadRequest } from './load.ts';
import { startProcess } from './processes.ts';
import { legacyRequests, modernRequests } from './requests.ts';

/** The figures of one call. */
export interface CallPath {
  readonly client: string;
  readonly backend: string;
  /** Files of core, plugins and hosts of which a function ran. */
  readonly files: readonly string[];
  /** Calls from one file to another, each pair once, in the order of the first. */
  readonly order: readonly string[];
  /** Calls from a file of the core to a file of a lower layer; the same two files count once. */
  readonly down: readonly string[];
  /** Calls from a file to one of a higher layer of the core or of the hosts, each time. A return is no call. */
  readonly up: readonly string[];
  /** Calls of hooks and slots: from the core to a plugin. */
  readonly plugins: readonly string[];
}

const { values: flags } = parseArgs({
  options: { audit: { type: 'boolean' }, json: { type: 'boolean' }, calls: { type: 'boolean' } },
});
const ERAS = ['2026-07-28', '2025-11-25'] as const;
const WARM_UP_CALLS = 20;
const RECORDINGS = 5;
const SETTLE_MS = 50; // what follows the response, e.g. the audit record, belongs to the call

await using backend = await startProcess(undefined, 'backend.ts', ['0', '10']);
const gateway = await createGateway(
  {
    name: 'call-path',
    plugins: [
      { use: 'outgoing-auth/unauthenticated' },
      {
        use: 'backend-sources/static',
        with: {
          backends: [
            { name: 'modern', url: backend.url, transport: 'streamable-http', era: 'modern' },
            { name: 'legacy', url: backend.url, transport: 'streamable-http', era: 'legacy' },
          ],
        },
      },
      { use: 'aggregation' },
      { use: 'incoming-auth/anonymous' },
      ...(flags.audit ? [{ use: 'audit', with: { logFile: '/dev/null' } }] : []),
    ],
  },
  { catalogue },
);
await gateway.settled();
await using served = await serveGateway(gateway, { host: '127.0.0.1', port: 0 });
const url = `${served.url}/mcp`;
const requests = { '2026-07-28': modernRequests(), '2025-11-25': await legacyRequests(url) };
const paths: CallPath[] = [];
for (const client of ERAS) {
  for (const name of ['modern', 'legacy']) {
    const call = requests[client].call(`${name}_tool_0`);
    for (let n = 0; n < WARM_UP_CALLS; n++) await post(call);
    // A timer that fires meanwhile is not part of the call: the recording with the fewest files has none.
    let path = pathOf(await recordedCall(call));
    for (let n = 1; n < RECORDINGS; n++) {
      const other = pathOf(await recordedCall(call));
      if (other.files.length < path.files.length) path = other;
    }
    paths.push({ client, backend: name, ...path });
  }
}
await gateway.stop();
if (flags.json) console.log(JSON.stringify(paths));
else paths.forEach(print);

async function recordedCall(call: LoadRequest): Promise<readonly NotedCall[]> {
  const stop = recordCalls();
  await post(call);
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  return stop();
}

function pathOf(calls: readonly NotedCall[]): Pick<CallPath, 'files' | 'order' | 'down' | 'up' | 'plugins'> {
  const files = new Set(calls.map(({ to }) => fileOf(to)));
  const order = new Set<string>();
  const down = new Set<string>();
  const up: string[] = [];
  const plugins: string[] = [];
  for (const { from, to } of calls) {
    if (fileOf(from ?? 'Node.ts:') !== fileOf(to)) order.add(`${from === undefined ? 'Node' : fileOf(from)} -> ${to}`);
    if (from === undefined) continue;
    const [higher, lower] = [layerOf(fileOf(from)), layerOf(fileOf(to))];
    if (higher > lower) down.add(`${fileOf(from)} -> ${fileOf(to)}`);
    if (higher >= lower) continue;
    (to.startsWith('plugins/') ? plugins : up).push(`${from} -> ${to}`);
  }
  return { files: [...files].sort(), order: [...order], down: [...down].sort(), up, plugins };
}

function fileOf(place: string): string {
  return place.slice(0, place.lastIndexOf('.ts:') + 3);
}

function print({ client, backend, files, order, down, up, plugins }: CallPath): void {
  console.log(
    `client ${client}, backend ${backend}: ${files.length} files, ${down.length} hops down, ${up.length} calls back up, ${plugins.length} calls of plugins`,
  );
  if (!flags.calls) return;
  for (const [title, lines] of Object.entries({ files, order, down, up, plugins })) {
    console.log(`  ${title}\n${lines.map((line) => `    ${line}`).join('\n')}`);
  }
}

function post({ headers, body }: LoadRequest): Promise<void> {
  const bytes = Buffer.from(body.replaceAll('#N#', '1'));
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method: 'POST', headers: { ...headers, 'content-length': bytes.length } });
    sent.on('response', (response) => {
      response.resume();
      response.on('end', () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`the call failed with ${response.statusCode}`)),
      );
    });
    sent.on('error', reject);
    sent.end(bytes);
  });
}
