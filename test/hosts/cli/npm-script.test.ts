import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const REPOSITORY = join(import.meta.dirname, '../../..');
const LONG = 120_000;

/** Output and exit code of a program, run from a given folder. */
async function runFrom(folder: string, file: string, args: readonly string[]) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD)/.test(name)));
  const path = `${dirname(process.execPath)}:${env.PATH}`;
  return new Promise<{ readonly code: unknown; readonly printed: string }>((resolve) => {
    execFile(file, [...args], { cwd: folder, env: { ...env, PATH: path, NO_COLOR: '1' } }, (cause, out, err) =>
      resolve({ code: cause?.code ?? 0, printed: out + err }),
    );
  });
}

const npm = (...args: readonly string[]) => ['--prefix', REPOSITORY, 'run', '-s', 'toolmgr', '--', ...args];

describe('toolmgr through npm', () => {
  proves(
    'choice.cli.person-folder',
    'reads relative paths from the folder of the user',
    async () => {
      const folder = temporaryFolder('npm');
      await writeFile(join(folder, 'servers.json'), '{"mcpServers": {"off": {"command": "x", "disabled": true}}}');
      const read = await runFrom(folder, 'npm', npm('up', 'servers.json', '--port', '0'));
      expect(read).toEqual({ code: 1, printed: expect.stringContaining('servers.json: no server is left to serve') });
      const missing = await runFrom(folder, 'npm', npm('up', 'package.json', '--port', '0'));
      expect(missing.printed).toContain('there is no such file');
    },
    LONG,
  );

  proves(
    'choice.cli.own-flags',
    'gets its own flags, also those that Node has with the same name',
    async () => {
      const folder = temporaryFolder('npm');
      const args = ['run', '--env-file', 'no-such-file', 'node'];
      const bin = join(REPOSITORY, 'hosts/bin/toolmgr.js');
      const ways = [
        ['npm', npm(...args)],
        [process.execPath, ['--', bin, ...args]],
      ] as const;
      for (const [file, given] of ways) {
        expect(await runFrom(folder, file, given)).toEqual({
          code: 1,
          printed: expect.stringMatching(/--env-file.*no-such-file/),
        });
      }
    },
    LONG,
  );
});
