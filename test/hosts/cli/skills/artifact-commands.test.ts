import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startCli } from '../../../support/cli.ts';
import { ownFolders } from '../../../support/manager.ts';
import { skillFolder } from '../../../support/skill-folder.ts';

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
