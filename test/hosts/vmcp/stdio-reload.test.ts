import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startCli } from '../../support/cli.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

it('vmcp serve --stdio applies a changed log level on SIGHUP, and refuses what would end the session of its client', async () => {
  const folder = temporaryFolder('stdio-reload');
  const file = join(folder, 'vmcp.yaml');
  const backends = 'backends: [{ name: far, transport: streamable-http, url: "http://127.0.0.1:9/mcp" }]\n';
  await writeFile(file, `${backends}name: first\n`);
  await using serving = startCli(['vmcp', 'serve', '-c', file, '--stdio', '--log-format', 'json'], {
    keepsInput: true,
  });
  await serving.printed(/backend unavailable/);
  expect(serving.err()).not.toContain('"level":"debug"');
  await writeFile(file, `${backends}name: first\noperational: { logLevel: debug }\n`);
  serving.signal('SIGHUP');
  await serving.printed(/configuration reloaded/);
  await serving.printed(/"level":"debug"/);
  await writeFile(file, `${backends}name: second\n`);
  serving.signal('SIGHUP');
  await serving.printed(
    /the changed file is not used.*name changed, which ends the sessions of clients: it needs a restart/,
  );
  expect(serving.err()).not.toContain('client sessions end with the previous configuration');
}, 120_000);
