import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import { cli, startCli } from '../../support/cli.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../../..');
const SERVER = join(ROOT, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const AS_WINDOWS = join(ROOT, 'test/support/as-windows.mjs');

const folder = temporaryFolderOfFile('as-windows');
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  await script('bin/npx', 'exit 1'); // for other shells
  await script('bin/npx.cmd', `"${process.execPath}" "${SERVER}"; :`); // below the shell, as on Windows
  await script(
    'System32/cmd.exe',
    `echo "$NoDefaultCurrentDirectoryInExePath $@" >> "${folder}/started"; line=\${4#?}; /bin/sh -c "\${line%?}"; :`,
  );
  await script('project/npx.cmd', 'exit 1'); // of a project that is not trusted
  env = {
    HOME: folder,
    SystemRoot: folder,
    PATH: `${join(folder, 'bin')};/usr/bin;/bin`,
    NODE_OPTIONS: `--import ${AS_WINDOWS}`,
  };
});

async function script(path: string, text: string): Promise<void> {
  await mkdir(join(folder, path, '..'), { recursive: true });
  await writeFile(join(folder, path), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
}

proves('choice.windows.scripts', 'on Windows toolmgr up starts npx of a client file, and answers a call', async () => {
  const servers = { everything: { command: 'npx', args: ['-y', 'server-everything'] } };
  await writeFile(join(folder, 'project/.mcp.json'), JSON.stringify({ mcpServers: servers }));
  await using gateway = startCli(['up', '.mcp.json', '--port', '0'], { env, cwd: join(folder, 'project') });
  const [url = ''] = await gateway.printed(/http:\/\/127\.0\.0\.1:\d+\/mcp/);
  await gateway.printed(/everything +ready/);
  const called = await cli(['call', 'everything_echo', 'message=hello', '--url', url], { env });
  expect(called, called.err).toMatchObject({ code: 0, out: 'Echo: hello\n' });
  gateway.signal('SIGINT');
  expect((await gateway.finished).code).toBe(0);
  const started = (await readFile(join(folder, 'started'), 'utf8')).trim().split('\n');
  expect(new Set(started)).toEqual(new Set([`1 /d /s /c "${join(folder, 'bin/npx.cmd')} -y server-everything"`]));
});

proves(
  'choice.windows.refused',
  'on Windows toolmgr run says that it needs process groups, and what to use',
  async () => {
    expect(await cli(['run', 'npx://server-everything'], { env })).toMatchObject({
      code: 1,
      err: expect.stringMatching(/Windows does not have: use WSL, or toolmgr up\n$/),
    });
  },
);
