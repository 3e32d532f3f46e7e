// `node --conditions=development test/bench/retrieval-set/read-real-servers.ts`: writes real-servers.json anew.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const require = createRequire(import.meta.url);
const FOLDER = mkdtempSync(join(tmpdir(), 'retrieval-'));
const SERVERS = {
  everything: [],
  filesystem: [FOLDER],
  memory: [],
  'sequential-thinking': [],
} as const satisfies Record<string, readonly string[]>;

const tools = [];
for (const [name, args] of Object.entries(SERVERS)) {
  const manifest = require.resolve(`@modelcontextprotocol/server-${name}/package.json`);
  const program = join(dirname(manifest), 'dist', 'index.js');
  const client = new Client({ name: 'retrieval-set', version: '1.0.0' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [program, ...args] }));
  const listed = await client.listTools();
  for (const { name: tool, title, description, inputSchema } of listed.tools) {
    tools.push({ server: name, name: tool, title, description, inputSchema });
  }
  await client.close();
}
writeFileSync(join(import.meta.dirname, 'real-servers.json'), `${JSON.stringify(tools, null, 2)}\n`);
console.log(`${tools.length} tools of ${Object.keys(SERVERS).length} servers`);
