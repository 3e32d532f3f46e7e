import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readClientFile } from '../../../hosts/client-files/client-file.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

it('a command that is a whole command line is left out, and the note says what to write, without secrets', async () => {
  const folder = temporaryFolder('command');
  await mkdir(join(folder, 'my tools'));
  await writeFile(join(folder, 'my tools', 'my server'), '');
  const mcpServers = {
    one: { command: 'npx -y foo' },
    more: { command: 'npx -y', args: ['foo'] },
    secret: { command: 'run --key s3cret foo' },
    variable: { command: 'KEY=s3cret npx foo' },
    quoted: { command: 'run "my tools" --key=s3cret' },
    here: { command: './my server' },
    found: { command: 'my server' },
    missing: { command: '/no such folder/server' },
  };
  const context = { env: { PATH: join(folder, 'my tools') }, home: folder, folder: join(folder, 'my tools') };
  const { backends, notes } = await readClientFile(JSON.stringify({ mcpServers }), 'mcp.json', context);
  expect(notes.slice(0, 2)).toEqual([
    'one: left out, its "command" is a whole command line; write "command": "npx", "args": ["-y","foo"]',
    'more: left out, its "command" is a whole command line; write "command": "npx", "args": ["-y","foo"]',
  ]);
  expect(notes[2]).toContain('"args": ["--key","[secret]","[secret]"]');
  expect(notes.join()).not.toContain('s3cret');
  expect(notes[4]).toContain('"command": "run", "args": ["[secret]","--key=[secret]"]');
  expect(backends.map(({ name }) => name)).toEqual(['here', 'found', 'missing']);
});

it('a path of a program with its arguments is a whole command line too', async () => {
  const mcpServers = { one: { command: `${process.execPath} server.js` } };
  const context = { env: {}, home: '/', folder: '/' };
  const { notes } = await readClientFile(JSON.stringify({ mcpServers }), 'mcp.json', context);
  expect(notes.join()).toContain(`write "command": ${JSON.stringify(process.execPath)}, "args": ["server.js"]`);
});
