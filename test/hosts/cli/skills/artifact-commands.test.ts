import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { startCli } from '../../../support/cli.ts';
import { ownFolders, startManager } from '../../../support/manager.ts';
import { skillFolder, skillText } from '../../../support/skill-folder.ts';

it('a skill is validated, built, shown, listed and removed by commands; a push says what it needs', async () => {
  await using skill = await skillFolder('code-review', ['version: 1.2.0']);
  const env = ownFolders(skill.home);
  const run = (...args: readonly string[]) => startCli(['skill', ...args], { env }).finished;
  const valid = await run('validate', skill.path, '--format', 'json');
  expect([valid.code, JSON.parse(valid.out)]).toEqual([0, { valid: true, errors: [], warnings: [] }]);
  const invalid = await run('validate', skill.home);
  expect([invalid.code, invalid.out]).toEqual([1, 'error: SKILL.md is missing\n']);
  const built = await run('build', skill.path, '--tag', 'ghcr.io/org/code-review:v1', '--format', 'json');
  expect([built.code, JSON.parse(built.out)]).toEqual([
    0,
    { reference: 'ghcr.io/org/code-review:v1', digest: expect.stringMatching(/^sha256:/) },
  ]);
  const shown = await run('show', 'ghcr.io/org/code-review:v1');
  expect(shown.code).toBe(0);
  expect(shown.out).toMatch(/version +1\.2\.0[\s\S]*scripts\/check\.sh +23[\s\S]*Read the files\.\n$/);
  const listed = await run('builds');
  expect(listed.out).toMatch(/ghcr\.io\/org\/code-review:v1 +code-review +1\.2\.0 +sha256:/);
  const push = await run('push', 'ghcr.io/org/code-review:v1');
  expect([push.code, push.err]).toEqual([1, expect.stringContaining('exactly one of --key, --identity-token-file')]);
  const unreadable = await run('push', 'ghcr.io/org/code-review:v1', '--key', join(skill.home, 'absent.pem'));
  expect([unreadable.code, unreadable.err]).toEqual([1, expect.stringContaining('ENOENT')]);
  const removed = await run('builds', 'rm', 'ghcr.io/org/code-review:v1', 'absent');
  expect([removed.code, removed.out]).toEqual([1, 'ghcr.io/org/code-review:v1 is removed\n']);
});

it.each([
  { where: 'in the command', runs: false, more: {}, asked: 0 },
  { where: 'in the manager', runs: true, more: {}, asked: 3 },
  { where: 'in a command with a token of its own', runs: true, more: { GIT_TOKEN: 'a' }, asked: 0 },
])('skills are installed and uninstalled $where, with what they need', async ({ runs, more, asked }) => {
  await using skill = await skillFolder('code-review', ['toolmgr.requires: [ghcr.io/org/rules:v1]']);
  const { home } = skill;
  await using manager = await startManager({ home });
  if (!runs) await manager.stop();
  await writeFile(join(home, '.claude.json'), '{}');
  const rules = join(home, 'rules');
  await mkdir(rules);
  await writeFile(join(rules, 'SKILL.md'), skillText('rules'));
  const installs = vi.spyOn(manager.operations.find(({ id }) => id === 'installSkill') ?? expect.fail(), 'run');
  const run = async (...args: readonly string[]) => {
    const { code, out, err } = await startCli(['skill', ...args], { env: { ...ownFolders(home), ...more } }).finished;
    return [code, out, err];
  };
  expect(await run('build', rules, '--tag', 'ghcr.io/org/rules:v1')).toEqual([
    0,
    expect.stringMatching(/^ghcr\.io\/org\/rules:v1 sha256:\w+\n$/),
    '',
  ]);
  expect((await run('build', skill.path))[0]).toBe(0);
  expect(await run('install', 'code-review')).toEqual([
    0,
    'code-review is installed for claude-code\nchanged with it: rules\n',
    '',
  ]);
  expect(await run('install', 'code-review')).toEqual([0, 'code-review is installed already\n', '']);
  expect(await run('uninstall', 'rules')).toEqual([
    1,
    '',
    'toolmgr: rules is needed by code-review: uninstall that first\n',
  ]);
  expect(await run('uninstall', 'absent', 'code-review')).toEqual([
    1,
    'code-review is uninstalled\nrules is uninstalled\n',
    expect.stringMatching(/^toolmgr: the skill absent is not installed for the user/),
  ]);
  const again = await run('install', 'code-review', '--format', 'json');
  expect([again[0], JSON.parse(`${again[1]}`)]).toEqual([
    0,
    { name: 'code-review', digest: expect.stringMatching(/^sha256:/), changed: ['code-review', 'rules'] },
  ]);
  expect(await run('uninstall', 'code-review', '--format', 'json')).toEqual([
    0,
    `${JSON.stringify({ removed: ['code-review', 'rules'] }, undefined, 2)}\n`,
    '',
  ]);
  expect(installs).toHaveBeenCalledTimes(asked);
});
