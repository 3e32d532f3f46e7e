import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { programEnvironment } from '@toolmgr/core';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { inheritedEnvironment } from '../../../core/backend/transports/inherited-environment.ts';
import { ProcessGroup } from '../../../core/backend/transports/process-group.ts';
import { windowsCommand } from '../../../core/backend/transports/windows-command.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';

const folder = temporaryFolderOfFile('windows');
beforeAll(async () => {
  await script('bin/npx', '');
  await script('bin/npx.cmd', '');
  await script('bin/uvx.exe', '');
  await script('project/npx.cmd', '');
});
afterEach(() => vi.unstubAllEnvs());

async function script(path: string, text: string): Promise<string> {
  const file = join(folder, path);
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, text);
  await chmod(file, 0o755);
  return file;
}

describe('on Windows', () => {
  const command = (file: string, args: readonly string[] = []) =>
    windowsCommand(file, args, {
      env: { Path: `relative;${join(folder, 'bin')}`, SystemRoot: '/Windows' },
      cwd: join(folder, 'project'),
    });

  proves('choice.windows.scripts', 'npx is the script of the PATH, started by the shell of Windows', () => {
    expect(command('npx', ['-y', '@modelcontextprotocol/server-everything@1.0', 'C:\\data\\'])).toEqual({
      file: '/Windows/System32/cmd.exe',
      args: [
        '/d',
        '/s',
        '/c',
        `"${join(folder, 'bin/npx.cmd')} -y @modelcontextprotocol/server-everything@1.0 C:\\data\\"`,
      ],
      verbatim: true,
    });
  });

  proves('choice.windows.scripts', 'a program is started itself, with its arguments as they are', () => {
    expect(command('uvx', ['a & b'])).toEqual({ file: join(folder, 'bin/uvx.exe'), args: ['a & b'], verbatim: false });
  });

  proves('choice.windows.scripts', 'the working folder is searched only for a path', () => {
    expect(command('./npx').args[3]).toBe(`"${join(folder, 'project/npx.cmd')}"`);
    expect(() => windowsCommand('npx', [], { env: {}, cwd: join(folder, 'project') })).toThrow('spawn npx ENOENT');
  });

  // As cross-spawn writes them for scripts of npm, except backslashes before a quote: it doubles only one
  const QUOTED = {
    'a b': '^^^"a^^^ b^^^"',
    '': '^^^"^^^"',
    'a"&calc&"b': '^^^"a\\^^^"^^^&calc^^^&\\^^^"b^^^"',
    '%PATH%': '^^^"^^^%PATH^^^%^^^"',
    'a^b!': '^^^"a^^^^b^^^!^^^"',
    'x y\\': '^^^"x^^^ y\\\\^^^"',
    '{"a":"\\\\"}': '^^^"{\\^^^"a\\^^^":\\^^^"\\\\\\\\\\^^^"}^^^"',
  };
  proves('choice.windows.quoting', 'the shell reads nothing of the arguments of a script', () => {
    for (const [argument, written] of Object.entries(QUOTED)) {
      expect(command('npx', [argument]).args[3]).toBe(`"${join(folder, 'bin/npx.cmd')} ${written}"`);
    }
  });

  proves('choice.windows.quoting', 'an argument of a script with a line break is refused', () => {
    expect(() => command('npx', ['a\r\ncalc'])).toThrow('line breaks');
  });

  proves(
    'choice.windows.tree',
    'a program that does not end with its input is ended with its child processes',
    async () => {
      // stands for the program of Windows: ends the process with the given number, and its children
      await script(
        'System32/taskkill.exe',
        `#!/bin/sh\necho "$@" > ${folder}/asked\npkill -KILL -P "$2"\nkill -KILL "$2"\n`,
      );
      vi.stubEnv('SystemRoot', folder);
      const tree = { file: '/bin/sh', args: ['-c', 'sleep 300 & echo $!; wait; wait'] };
      const group = new ProcessGroup(tree, { environment: process.env, platform: 'win32' });
      const { stdout = null, pid } = group.child;
      if (stdout === null) throw new Error('no stdout');
      await once(stdout, 'data');
      const closed = once(stdout, 'close'); // when no process has it any more
      await group.stop();
      expect(await readFile(join(folder, 'asked'), 'utf8')).toBe(`/PID ${pid} /T /F\n`);
      await closed;
    },
  );
});

describe('the environment of a program on Windows', () => {
  const own = { Path: 'C:\\bin', SystemRoot: 'C:\\Windows', ComSpec: 'cmd', AppData: 'x', GITHUB_TOKEN: 'secret' };

  proves(
    'choice.windows.environment',
    'has the path and the folders of the system, whatever the case of their names',
    () => {
      const { GITHUB_TOKEN: _, ...passed } = own;
      expect(inheritedEnvironment(own, 'win32')).toEqual(passed);
      expect(inheritedEnvironment(own, 'linux')).toEqual({});
    },
  );

  it('has a given variable once', () => {
    expect(programEnvironment({ Path: 'C:\\bin', Temp: 'C:\\t' }, { PATH: 'D:\\bin' }, 'win32')).toEqual({
      PATH: 'D:\\bin',
      Temp: 'C:\\t',
    });
  });
});
