// A server behind a simulated package runner that "installs" first: it does not answer until a file exists, so that a test
// controls the duration. Arguments: folder, kind (`legacy` or `modern`), name of the package.
import { appendFileSync, existsSync, mkdirSync, rmdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

interface Incoming {
  readonly id?: number;
  readonly method?: string;
}

const [, , folder = '', kind = 'legacy', name = 'package'] = process.argv;
const note = (what: string) => appendFileSync(join(folder, 'ledger'), `${what} ${name}\n`);
const installing = join(folder, `installing-${name}`);
const answer = (id: unknown, body: object) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n`);

note('start');
try {
  mkdirSync(installing);
} catch {
  note('overlap');
}
await installed();
note('installed');
rmdirSync(installing);

const TOOLS = { tools: [{ name: 'ping', inputSchema: { type: 'object' } }] };
const PONG = { content: [{ type: 'text', text: 'pong' }] };
const MODERN: Readonly<Record<string, object>> = {
  'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, resultType: 'complete' },
  'tools/list': { ...TOOLS, ttlMs: 0, cacheScope: 'private', resultType: 'complete' },
  'tools/call': { ...PONG, resultType: 'complete' },
};
const LEGACY: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name, version: '1' } },
  'tools/list': TOOLS,
  'tools/call': PONG,
};
const answers = kind === 'modern' ? MODERN : LEGACY;
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method = '' } = JSON.parse(line) as Incoming;
  if (id === undefined) return;
  const result = answers[method];
  if (result !== undefined) answer(id, { result });
  else answer(id, { error: { code: -32601, message: 'method not found' } });
});

/** Resolves when the file exists. Polls in addition to the watch, which may miss an earlier change. */
function installed(): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!existsSync(join(folder, 'released'))) return;
      clearInterval(polling);
      watching.close();
      resolve();
    };
    const watching = watch(folder, look);
    const polling = setInterval(look, 50);
    look();
  });
}
