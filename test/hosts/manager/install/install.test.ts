import { execFileSync, spawnSync } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { install, type Machine, showInstalled, uninstall } from '../../../../hosts/manager/install/install.ts';
import { keptVariables } from '../../../../hosts/manager/install/start-command.ts';
import { launchAgent, type StartCommand, systemdUnit } from '../../../../hosts/manager/install/unit-text.ts';
import { startCli } from '../../../support/cli.ts';
import { ownFolders } from '../../../support/manager.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const START: StartCommand = {
  command: [process.execPath, '/opt/a folder/toolmgr.js', 'serve', '--socket', '/tmp/100% "a" $HOME\\<&>.sock'],
  env: { PATH: '/usr/bin:/bin', TOOLMGR_STATE_DIR: '/srv/a b' },
  log: '/srv/a b/server/manager.log',
};

let home: string;
let ran: string[];
let printed: string[];

beforeEach(() => {
  home = temporaryFolder('install');
  ran = [];
  printed = [];
});

const machine = (more: Partial<Machine> = {}, answers = true): Machine => ({
  platform: 'linux',
  uid: 1000,
  user: 'ada',
  home,
  env: {},
  run: async (program, ...args) => {
    ran.push([program, ...args].join(' '));
    return { code: answers ? 0 : 1, out: program === 'loginctl' ? 'Linger=no' : 'active' };
  },
  print: (line) => void printed.push(line),
  ...more,
});

describe('toolmgr serve --install', () => {
  it('writes a systemd user unit, starts it, and can be repeated', async () => {
    const file = join(home, '.config/systemd/user/toolmgr.service');
    await install(machine(), START);
    expect(await readFile(file, 'utf8')).toBe(systemdUnit(START));
    expect(ran).toEqual([
      'systemctl --user show-environment',
      'systemctl --user daemon-reload',
      'systemctl --user enable toolmgr.service',
      'systemctl --user restart toolmgr.service',
      'loginctl show-user ada --property=Linger',
    ]);
    expect(printed.join('\n')).toContain(`wrote ${file}:`);
    expect(printed.join('\n')).toContain('loginctl enable-linger ada');
    const before = await stat(file);
    printed.length = 0;
    await install(machine(), START);
    expect((await stat(file)).ino).toBe(before.ino);
    expect(printed[0]).toBe(`${file} is as it should be`);

    expect(await showInstalled(machine(), 'http://127.0.0.1:8080')).toBe(true);
    expect(printed).toContain('a manager serves http://127.0.0.1:8080');
    await uninstall(machine());
    await expect(stat(file)).rejects.toThrow('ENOENT');
    expect(ran).toContain('systemctl --user disable --now toolmgr.service');
    printed.length = 0;
    await uninstall(machine());
    expect(printed[0]).toContain('nothing is installed');
    expect(await showInstalled(machine(), undefined)).toBe(false);
  });

  it('prints the commands where the session of the user is not reachable', async () => {
    await install(machine({}, false), START);
    expect(printed).toContain('  systemctl --user enable toolmgr.service');
    expect(ran).not.toContain('systemctl --user enable toolmgr.service');
  });

  it('refuses sudo and other systems, and says when it runs as root', async () => {
    await expect(install(machine({ uid: 0, env: { SUDO_USER: 'ada' } }), START)).rejects.toThrow('without sudo');
    await expect(install(machine({ platform: 'win32' }), START)).rejects.toThrow('not win32');
    await install(machine({ uid: 0 }), START);
    expect(printed).toContain('warning: it runs as root, and so do the workloads');
  });

  it('writes a launchd agent', async () => {
    await install(machine({ platform: 'darwin' }), START);
    const text = await readFile(join(home, 'Library/LaunchAgents/dev.toolmgr.serve.plist'), 'utf8');
    expect(text).toBe(launchAgent(START));
    expect(ran).toContain(`launchctl bootstrap gui/1000 ${home}/Library/LaunchAgents/dev.toolmgr.serve.plist`);
  });

  it('keeps variables that say where things are, and no others', () => {
    const env = {
      PATH: '/bin',
      DOCKER_HOST: 'unix:///x',
      TOOLMGR_SECRETS_PASSWORD: 'x',
      GITHUB_TOKEN: 'x',
      XDG_DATA_HOME: '',
    };
    expect(keptVariables(env)).toEqual({ PATH: '/bin', DOCKER_HOST: 'unix:///x' });
  });

  const hasAnalyze = spawnSync('which', ['systemd-analyze']).status === 0;
  it.skipIf(!hasAnalyze)('writes a unit that systemd accepts', async () => {
    await install(machine(), { ...START, command: [process.execPath, '/opt/toolmgr.js', 'serve'] });
    const file = join(home, '.config/systemd/user/toolmgr.service');
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--user', '--man=no', file], {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: home },
    });
    expect(stderr).not.toMatch(/toolmgr\.service:\d+/);
    if (status !== 0) expect(stderr).not.toContain('toolmgr');
  });

  it('writes a property list that is read back as it was meant', () => {
    const script = 'import plistlib,sys,json; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))';
    const read = JSON.parse(execFileSync('python3', ['-c', script], { input: launchAgent(START), encoding: 'utf8' }));
    expect(read).toMatchObject({
      Label: 'dev.toolmgr.serve',
      ProgramArguments: START.command,
      EnvironmentVariables: START.env,
      KeepAlive: true,
      AbandonProcessGroup: true,
    });
  });

  it('quotes what systemd would read otherwise', () => {
    expect(systemdUnit(START)).toContain(
      `ExecStart="${process.execPath}" "/opt/a folder/toolmgr.js" "serve" "--socket" "/tmp/100%% \\"a\\" $$HOME\\\\<&>.sock"`,
    );
    expect(systemdUnit(START)).toContain('Environment="TOOLMGR_STATE_DIR=/srv/a b"');
  });

  it.skipIf(process.platform !== 'linux')('keeps the options of the command line, with absolute paths', async () => {
    // without systemctl, which would change the session of the person who runs the tests
    const env = { ...ownFolders(home), PATH: home, XDG_RUNTIME_DIR: undefined, SUDO_USER: undefined };
    const ended = await startCli(
      ['serve', '--install', '--socket', 'api.sock', '--allow-host', 'a.example', '--debug'],
      {
        env,
        cwd: home,
      },
    ).finished;
    expect(ended, ended.err).toMatchObject({ code: 0 });
    const text = await readFile(join(home, 'config/systemd/user/toolmgr.service'), 'utf8');
    expect(text).toMatch(/^ExecStart="\/\S+" "\/.*\/bin\/toolmgr\.js" "serve" .*"--socket" "\/.*\/api\.sock"/m);
    expect(text).toContain('"--allow-host" "a.example"');
    expect(text).toContain('"--debug"');
    expect(text).not.toContain('--install"');
  });
});
