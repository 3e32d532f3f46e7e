// A composite tool with a custom step type, `pick`, which a vmcp file uses by its name.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const ROOT = join(import.meta.dirname, '..', '..');
const argv = ['--conditions=development', join(ROOT, 'hosts', 'cli', 'main.ts'), 'vmcp', 'serve', '-c'];
const gateway = spawn(process.execPath, [...argv, join(import.meta.dirname, 'vmcp.yaml'), '--port', '0'], {
  stdio: ['ignore', 'ignore', 'pipe'],
  env: { ...process.env, PATH: [join(ROOT, 'node_modules', '.bin'), process.env.PATH].join(delimiter), NO_COLOR: '1' },
});
const ended = once(gateway, 'exit');
const client = new Client({ name: 'story', version: '1.0.0' });

try {
  await client.connect(new StreamableHTTPClientTransport(await endpoint()));
  const { tools } = await client.listTools();
  assert.ok(
    tools.some(({ name }) => name === 'tallest'),
    'the composite is listed like a tool',
  );

  const mountains = [
    { name: 'Zugspitze', metres: 2962 },
    { name: 'Mont Blanc', metres: 4806 },
    { name: 'Ben Nevis', metres: 1345 },
  ];
  const { structuredContent } = await client.callTool({ name: 'tallest', arguments: { mountains } });
  assert.deepEqual(
    structuredContent,
    { answer: 'Echo: Mont Blanc at 4806 m' },
    'the output of the custom step is the input of the next tool',
  );

  const none = await client.callTool({ name: 'tallest', arguments: { mountains: [] } });
  assert.equal(none.isError, true, 'a step that rejects fails the workflow');
  assert.match(JSON.stringify(none.content), /Workflow execution failed: step top: /, 'and says where');
  console.log('custom-step: a custom step type picked the tallest of three mountains');
} finally {
  await client.close();
  gateway.kill('SIGTERM');
  await ended;
}

/** Reads the endpoint from the output of the gateway. */
async function endpoint(): Promise<URL> {
  let said = '';
  for await (const line of createInterface({ input: gateway.stderr })) {
    said += `${line}\n`;
    const [, url] = /serves (http:\S+)/.exec(line) ?? [];
    if (url === undefined) continue;
    gateway.stderr.resume();
    return new URL(url);
  }
  throw new Error(`the gateway did not serve:\n${said}`);
}
