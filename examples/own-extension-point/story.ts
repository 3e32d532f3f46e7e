// A plugin with a slot of its own, and a second plugin that fills it.
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
  const { content } = await client.callTool({
    name: 'everything_echo',
    arguments: { message: 'write to ada@example.com' },
  });
  assert.deepEqual(
    content,
    [{ type: 'text', text: 'Echo: write to [mail address]' }],
    'the mask of the second plugin is used',
  );
  console.log('own-extension-point: one plugin masked a result with the mask of another one');
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
