import { spawnSync } from 'node:child_process';
import { createRecord } from '@toolmgr/plugins/kit/workloads';
import { beforeAll, describe, expect, it } from 'vitest';
import { candidates } from '../../../../hosts/cli/completion/candidates.ts';
import { COMPLETION_SCRIPTS, SHELLS } from '../../../../hosts/cli/completion/scripts.ts';
import { createProgram } from '../../../../hosts/cli/main.ts';
import { PROGRAM } from '../../../support/program.ts';
import { temporaryFolderOfFile } from '../../../support/temporary-folder.ts';
import { workloadConfigOf } from '../../../support/workload-config.ts';

const names = {
  workloads: async () => ['alpha', 'beta'],
  groups: async () => ['default', 'dev'],
  backends: async () => ['github'],
  tools: async () => ['github_search'],
  gateways: async () => ['up', '4483'],
};
const following = async (...words: string[]) =>
  (await candidates(await createProgram(), words, names)).map(({ value }) => value);

/** A shell that this machine lacks; CI has all of them. */
const isAbsent = (shell: string) => !process.env.CI && spawnSync('which', [shell]).status !== 0;

const CLI = `${process.execPath} --conditions=development ${PROGRAM}`;

describe('completion', () => {
  it('completes commands, options, their values, and names of workloads and groups', async () => {
    expect((await following('sta')).sort()).toEqual(['start', 'status']);
    expect(await following('group', '')).toEqual(['create', 'list', 'rm']);
    expect(await following('stop', '--t')).toEqual(['--timeout']);
    expect(await following('list', '--format', '')).toEqual(['text', 'json', 'mcpservers']);
    expect(await following('stop', '')).toEqual(['alpha', 'beta']);
    expect(await following('stop', 'alpha', 'b')).toEqual(['beta']);
    expect(await following('logs', '--follow', 'al')).toEqual(['alpha']);
    expect(await following('logs', 'g')).toEqual(['github']);
    expect(await following('restart', '')).toEqual(['alpha', 'beta', 'github']);
    expect(await following('status', 'u')).toEqual(['up']);
    expect(await following('wait', '--gateway', '')).toEqual(['up', '4483']);
    expect(await following('tools', 'preflight', 'gi')).toEqual(['github_search']);
    expect(await following('list', '--group', 'd')).toEqual(['default', 'dev']);
    expect(await following('group', 'rm', 'de')).toEqual(['default', 'dev']);
  });

  it('shows no hidden command, and nothing after --', async () => {
    expect(await following('')).toContain('run');
    expect(await following('complete')).toEqual([]);
    expect(await following('run', 'x', '--', '--na')).toEqual([]);
  });

  it('describes each command in one sentence', async () => {
    const found = await candidates(await createProgram(), ['inspec'], names);
    expect(found).toEqual([{ value: 'inspect', about: expect.stringMatching(/^show the configuration/) }]);
  });
});

describe('completion scripts', () => {
  const state = temporaryFolderOfFile('complete');
  const env = () => ({ ...process.env, TOOLMGR_STATE_DIR: state });

  beforeAll(async () => {
    await createRecord(state, workloadConfigOf('my-server'));
  });

  it('completes in bash', () => {
    const script = `
      toolmgr() { ${CLI} "$@"; }
      ${COMPLETION_SCRIPTS.bash}
      COMP_WORDS=(toolmgr stop my); COMP_CWORD=2; _toolmgr; echo "\${COMPREPLY[@]}"
      COMP_WORDS=(toolmgr "\\$(touch ${state}/evaluated)" ""); COMP_CWORD=2; _toolmgr; ls ${state}`;
    const ran = spawnSync('bash', ['-c', script], {
      encoding: 'utf8',
      env: { ...process.env, TOOLMGR_STATE_DIR: state },
    });
    expect(ran.stdout.split('\n')[0]).toBe('my-server');
    expect(ran.stdout).not.toContain('evaluated');
  });

  it.skipIf(isAbsent('zsh'))('completes in zsh', () => {
    const script = `
      compdef() { :; }; _describe() { print -l -- "\${(@P)2}"; }
      toolmgr() { ${CLI} "$@"; }
      ${COMPLETION_SCRIPTS.zsh}
      words=(toolmgr stop my); CURRENT=3; _toolmgr`;
    const ran = spawnSync('zsh', ['-f', '-c', script], { encoding: 'utf8', env: env() });
    expect(ran.stdout).toBe('my-server:my-server\n');
  });

  it.skipIf(isAbsent('fish'))('completes in fish', () => {
    const script = `
      function toolmgr; ${CLI} $argv; end
      ${COMPLETION_SCRIPTS.fish}
      complete -C 'toolmgr stop my'`;
    const ran = spawnSync('fish', ['--no-config', '-c', script], { encoding: 'utf8', env: env() });
    expect(ran.stdout).toBe('my-server\n');
  });

  // no package of Debian or npm has it
  it.skipIf(spawnSync('which', ['pwsh']).status !== 0)('completes in PowerShell, skipped without pwsh', () => {
    const script = `
      function toolmgr { ${CLI} @args }
      ${COMPLETION_SCRIPTS.powershell}
      [System.Management.Automation.CommandCompletion]::CompleteInput('toolmgr stop my', 15, $null).CompletionMatches.CompletionText`;
    const ran = spawnSync('pwsh', ['-NoProfile', '-Command', script], { encoding: 'utf8', env: env() });
    expect(ran.stdout.trim()).toBe('my-server');
  });

  it('the script for PowerShell has balanced braces and announces a new word', () => {
    const { powershell } = COMPLETION_SCRIPTS;
    expect(powershell.match(/[{(]/g)?.length).toBe(powershell.match(/[})]/g)?.length);
    const ran = spawnSync('sh', ['-c', `${CLI} complete --new -- stop`], { encoding: 'utf8', env: env() });
    expect(ran.stdout).toBe('my-server\n');
  });

  for (const shell of SHELLS.filter((one) => one === 'bash' || one === 'zsh')) {
    it.skipIf(isAbsent(shell))(`is a valid script of ${shell}`, () => {
      expect(spawnSync(shell, ['-n'], { input: COMPLETION_SCRIPTS[shell], encoding: 'utf8' })).toMatchObject({
        status: 0,
        stderr: '',
      });
    });
  }
});
