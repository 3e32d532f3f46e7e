import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { secretNameProblem } from '@toolmgr/plugins/kit/secrets';
import { createEncryptedFile, encryptedFile, newHeader, unlocker } from '@toolmgr/plugins/secrets';
import { beforeEach, describe, expect, it } from 'vitest';
import { cli, type Finished } from '../../support/cli.ts';
import { cliSession } from '../../support/cli-session.ts';
import { keyringAbsence, withKeyring } from '../../support/keyring.ts';
import { PROGRAM } from '../../support/program.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const PASSWORD = 'correct horse';
const LONG = 120_000;
let home: string;
let path: string;

beforeEach(() => {
  home = temporaryFolder('secret');
  path = join(home, 'data/toolmgr/secrets_encrypted');
});

/** What `secret setup` does, with a key that is derived quickly: that of a real one takes a second of CPU time for each command. */
async function quickSetup(): Promise<void> {
  await rm(path, { force: true });
  await createEncryptedFile(path, await newHeader(PASSWORD, { N: 1024, r: 8, p: 1 }));
  await mkdir(join(home, 'config/toolmgr'), { recursive: true });
  await writeFile(join(home, 'config/toolmgr/config.yaml'), 'secrets: { provider_type: encrypted }\n');
}

/** The environment of a user without a keyring. */
const environment = (more: Readonly<Record<string, string | undefined>> = {}) => ({
  HOME: home,
  XDG_DATA_HOME: join(home, 'data'),
  XDG_CONFIG_HOME: join(home, 'config'),
  DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent',
  TOOLMGR_SECRETS_PROVIDER: undefined,
  TOOLMGR_SECRETS_PASSWORD: PASSWORD,
  ...more,
});
const session = cliSession();
const secret = (args: readonly string[], input?: string, more?: Readonly<Record<string, string | undefined>>) =>
  session(['secret', ...args], { env: environment(more), ...(input === undefined ? {} : { input }) });
const failed = (message: string | RegExp): Partial<Finished> => ({
  code: 1,
  out: '',
  err: expect.stringMatching(message),
});

describe('toolmgr secret', () => {
  it(
    'stores, shows, lists and removes secrets in an encrypted file',
    async () => {
      const setup = await secret(['setup']);
      expect(setup).toMatchObject({ code: 0, err: '' });
      expect(setup.out).toContain(`secrets are in ${path}\ntheir password is that of TOOLMGR_SECRETS_PASSWORD\n`);
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      expect(await readFile(join(home, 'config/toolmgr/config.yaml'), 'utf8')).toBe(
        'secrets:\n  provider_type: encrypted\n  setup_completed: true\n',
      );
      expect(await secret(['set', 'FIRST'], 'one')).toMatchObject({ code: 0 });
      expect((await secret(['get', 'FIRST'])).out).toBe('one\n');

      await quickSetup();
      expect(await secret(['list'])).toMatchObject({ code: 0, out: '', err: expect.stringContaining('no secrets') });
      expect(await secret(['set', 'GITHUB_TOKEN'], 'hunter2\n')).toEqual({
        code: 0,
        out: 'GITHUB_TOKEN is stored\n',
        err: '',
      });
      expect(await secret(['set', 'pem'], 'one\ntwo\n\n')).toMatchObject({ code: 0 });
      expect(await secret(['get', 'GITHUB_TOKEN'])).toEqual({ code: 0, out: 'hunter2\n', err: '' });
      expect((await secret(['get', 'pem'])).out).toBe('one\ntwo\n\n');
      expect((await secret(['list'])).out).toBe('GITHUB_TOKEN\npem\n');
      expect(JSON.parse((await secret(['list', '--format', 'json'])).out)).toEqual([
        { name: 'GITHUB_TOKEN' },
        { name: 'pem' },
      ]);

      expect(await secret(['delete', 'pem', 'none'])).toMatchObject({
        code: 1,
        out: 'pem is removed\n',
        err: expect.stringContaining('there is no secret none'),
      });
      expect((await secret(['list'])).out).toBe('GITHUB_TOKEN\n');
      expect(await readFile(path, 'utf8')).not.toMatch(/hunter2|GITHUB/);
    },
    LONG,
  );

  it(
    'shows and removes the secrets of workloads only with --system',
    async () => {
      await quickSetup();
      await encryptedFile({ path, unlock: unlocker({ path, env: environment() }) }).change(({ system }) => {
        system.set('search/1/TOKEN', 'hunter2');
      });
      expect((await secret(['list'])).out).toBe('');
      expect((await secret(['list', '--system'])).out).toBe('search/1/TOKEN\n');
      expect(await secret(['rm', 'search/1/TOKEN'])).toMatchObject({ code: 1 });
      expect(await secret(['rm', '--system', 'search/1/TOKEN'])).toMatchObject({ code: 0 });
      expect((await secret(['list', '--system'])).out).toBe('');
    },
    LONG,
  );

  it(
    'keeps the secrets of six commands at once',
    async () => {
      await quickSetup();
      const names = Array.from({ length: 6 }, (_, n) => `NAME_${n}`);
      const processOf = (name: string) =>
        cli(['secret', 'set', name], { env: environment(), input: `value of ${name}` });
      const ran = await Promise.all(names.map(processOf));
      expect(ran.filter(({ code }) => code !== 0)).toEqual([]);
      expect((await secret(['list'])).out.trim().split('\n').sort()).toEqual(names.toSorted());
    },
    LONG,
  );

  it('refuses a name that is no name of a secret', async () => {
    expect(await secret(['set', '__proto__'], 'hunter2')).toMatchObject(failed(/a name of a secret has letters/));
    const names = ['../x', '__proto__', 'a/b', '-x', 'a b', 'a,target=B', 'ä', '', 'x'.repeat(101), 'a\n'];
    expect(names.filter((name) => secretNameProblem(name) === undefined)).toEqual([]);
    const good = ['a', '0', 'GITHUB_TOKEN', 'my.key-1', 'constructor', 'x'.repeat(100)];
    expect(good.filter((name) => secretNameProblem(name) !== undefined)).toEqual([]);
  });

  it(
    'refuses values that cannot be used, without showing them',
    async () => {
      await quickSetup();
      expect(await secret(['set', 'A'], '\n')).toMatchObject(failed(/the value is empty: pass it on stdin/));
      expect(await secret(['set', 'A'], 'hunter2\0')).toMatchObject(failed(/NUL character/));
      expect(await secret(['set', 'A'], 'x'.repeat(70_000))).toMatchObject(failed(/stdin has more than 65538 bytes/));
      const argument = await secret(['set', 'A', 'hunter2']);
      expect(argument).toMatchObject(failed(/set takes only a name: pass the value on stdin/));
      expect(argument.err).not.toContain('hunter2');
    },
    LONG,
  );

  it(
    'without setup says what to do',
    async () => {
      const advice = /no provider of secrets is set up: toolmgr secret setup makes an encrypted file of secrets/;
      expect(await secret(['set', 'A'], 'x')).toMatchObject(failed(advice));
      expect(await secret(['list'])).toMatchObject(failed(advice));
      expect(await secret(['get', 'A'])).toMatchObject(
        failed(
          /there is no secret A: set the variable TOOLMGR_SECRET_A, or store secrets in an encrypted file: toolmgr secret setup/,
        ),
      );
      expect(await secret(['provider', 'encrypted'])).toMatchObject(failed(/make them with toolmgr secret setup/));
      expect(await secret(['reset-keyring'])).toMatchObject(failed(/make them with toolmgr secret setup/));
      expect(await secret(['provider'])).toMatchObject({
        code: 0,
        out: 'environment (the default): TOOLMGR_SECRET_NAME\n',
      });
    },
    LONG,
  );

  it(
    'needs a password for setup',
    async () => {
      const without = await secret(['setup'], undefined, { TOOLMGR_SECRETS_PASSWORD: undefined });
      expect(without).toMatchObject(failed(/keyring of the system is not available.*set TOOLMGR_SECRETS_PASSWORD/));
      expect(await secret(['setup'], undefined, { TOOLMGR_SECRETS_PASSWORD: 'short' })).toMatchObject(
        failed(/TOOLMGR_SECRETS_PASSWORD: a password has at least 8 characters/),
      );
      await expect(stat(path)).rejects.toThrow();
    },
    LONG,
  );

  it(
    'changes the password, which is read from stdin',
    async () => {
      await quickSetup();
      await secret(['set', 'A'], 'hunter2');
      expect(await secret(['setup', '--new-password'], 'battery staple\n')).toMatchObject({ code: 0 });
      expect(await secret(['get', 'A'])).toMatchObject(failed(/the password in TOOLMGR_SECRETS_PASSWORD is wrong/));
      expect((await secret(['get', 'A'], undefined, { TOOLMGR_SECRETS_PASSWORD: 'battery staple' })).out).toBe(
        'hunter2\n',
      );
    },
    LONG,
  );

  it(
    'reads variables with the provider environment, and changes nothing',
    async () => {
      const of = { TOOLMGR_SECRETS_PROVIDER: 'environment', TOOLMGR_SECRET_A: 'hunter2' };
      expect(await secret(['get', 'A'], undefined, of)).toEqual({ code: 0, out: 'hunter2\n', err: '' });
      expect(await secret(['set', 'A'], 'x', of)).toMatchObject(
        failed(
          /the provider is environment \(TOOLMGR_SECRETS_PROVIDER\), which is read-only: set the variable TOOLMGR_SECRET_A/,
        ),
      );
      expect(await secret(['get', 'B'], undefined, of)).toMatchObject(
        failed(/there is no secret B: the provider is environment, and the variable TOOLMGR_SECRET_B is not set/),
      );
      expect(await secret(['get', 'A'], undefined, { TOOLMGR_SECRETS_PROVIDER: 'vault' })).toMatchObject(
        failed(/TOOLMGR_SECRETS_PROVIDER: expected encrypted, 1password, environment, keyring/),
      );
    },
    LONG,
  );

  it(
    'keeps other settings and comments of config.yaml, and refuses one that is damaged',
    async () => {
      const config = join(home, 'config/toolmgr/config.yaml');
      await mkdir(dirname(config), { recursive: true });
      await writeFile(config, '# mine\nregistry_url: https://r.example # here\n');
      expect(await secret(['setup', '--provider', 'environment'])).toMatchObject({ code: 0 });
      expect(await readFile(config, 'utf8')).toBe(
        '# mine\nregistry_url: https://r.example # here\nsecrets:\n  provider_type: environment\n  setup_completed: true\n',
      );
      expect((await secret(['provider'])).out).toBe(`environment (by ${config}): TOOLMGR_SECRET_NAME\n`);
      await writeFile(config, 'secrets: { provider_type: vault }');
      expect(await secret(['get', 'A'])).toMatchObject(failed(/config.yaml: secrets.provider_type/));
      await writeFile(config, 'a: [');
      expect(await secret(['get', 'A'])).toMatchObject(failed(/config.yaml is not YAML/));
    },
    LONG,
  );

  it(
    'names the commands and shows examples',
    async () => {
      expect((await secret(['--help'])).out).toMatch(
        /setup[\s\S]*set[\s\S]*Examples:[\s\S]*toolmgr secret set GITHUB_TOKEN < token.txt/,
      );
      expect((await secret(['set', '--help'])).out).toMatch(/A value is never an argument[\s\S]*Examples:/);
    },
    LONG,
  );
});

/** Runs a command on a terminal of its own; the user types `typed`. */
async function onTerminal(command: string, typed: string, env = environment({ TOOLMGR_SECRETS_PASSWORD: undefined })) {
  const line = `${process.execPath} --conditions=development ${PROGRAM} ${command}`;
  return cli([], { script: SCRIPT, env: { ...env, LINE: line, TYPED: typed } });
}
const SCRIPT = join(import.meta.dirname, 'on-terminal.mjs');

describe('toolmgr secret on a terminal', () => {
  it(
    'asks for passwords and values without showing them',
    async () => {
      const setup = await onTerminal('secret setup', 'correct horse\r|correct horse\r');
      expect(setup).toMatchObject({ code: 0 });
      expect(setup.out).toMatch(/New password of the secrets:[\s\S]*Once more:[\s\S]*their password is kept nowhere/);
      await quickSetup();
      expect(await onTerminal('secret set A', 'correct horsf\x7fe\r|hunter2\r')).toMatchObject({
        code: 0,
        out: expect.stringMatching(/Value of A \(not shown\):/),
      });
      const got = await onTerminal('secret get A', 'wrong\r|correct horse\r');
      expect(got).toMatchObject({ code: 0, out: expect.stringMatching(/Wrong\. Password:[\s\S]*hunter2/) });
      expect(setup.out + got.out).not.toMatch(/correct horse|wrong/);
      expect(await onTerminal('secret get A', 'a\r|b\r|c\r')).toMatchObject({
        code: 1,
        out: expect.stringContaining('the password is wrong'),
      });
    },
    LONG,
  );

  it(
    'stores nothing when two passwords differ, or after Ctrl-C',
    async () => {
      expect(await onTerminal('secret setup', 'correct horse\r|correct pony\r')).toMatchObject({
        code: 1,
        out: expect.stringContaining('the two passwords differ'),
      });
      expect(await onTerminal('secret setup', 'correct\x03')).toMatchObject({ code: 130 });
      await expect(stat(path)).rejects.toThrow();
    },
    LONG,
  );
});

const absence = keyringAbsence();

describe('toolmgr secret with a keyring', () => {
  it.skipIf(absence !== undefined)(
    `needs no password from the user ${absence ?? ''}`,
    async () => {
      const script = `
      run() { "$NODE" --conditions=development "$CLI" secret "$@"; }
      run setup && printf hunter2 | run set A && run get A && run provider &&
      printf 'battery staple' | run setup --new-password && run get A &&
      TOOLMGR_SECRETS_PASSWORD='battery staple' run reset-keyring --remove
      run get A
      TOOLMGR_SECRETS_PASSWORD='wrong password' run reset-keyring
      TOOLMGR_SECRETS_PASSWORD='battery staple' run reset-keyring && run get A`;
      const { XDG_DATA_HOME, XDG_CONFIG_HOME } = environment();
      const ran = await withKeyring(script, [], {
        NODE: process.execPath,
        CLI: PROGRAM,
        XDG_DATA_HOME,
        XDG_CONFIG_HOME,
      });
      expect(ran.code).toBe(0);
      expect(ran.out.split('\n').filter((line) => /^(hunter2|the password|their password|\S+ has)/.test(line))).toEqual(
        [
          'their password is in the keyring of the system; without it they cannot be read',
          'hunter2',
          `${path} has a new password`,
          'their password is in the keyring of the system; without it they cannot be read',
          'hunter2',
          'the password is no longer in the keyring',
          'the password is in the keyring',
          'hunter2',
        ],
      );
      expect(ran.err).toMatch(/the keyring: it has no password for this file/);
      expect(ran.err).toMatch(/the password in TOOLMGR_SECRETS_PASSWORD is wrong/);
    },
    LONG,
  );
});
