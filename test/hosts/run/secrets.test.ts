import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readWorkload, readWorkloads, workloadDir } from '@toolmgr/plugins/kit/workloads';
import { createEncryptedFile, encryptedFile, newHeader, type SecretScope, unlocker } from '@toolmgr/plugins/secrets';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readSecretReference } from '../../../hosts/workloads/fields/option-values.ts';
import { removeWorkload } from '../../../hosts/workloads/planning/remove.ts';
import { keyringAbsence, withKeyring } from '../../support/keyring.ts';
import { postModern } from '../../support/open-endpoint.ts';
import { PROGRAM, PROXY_PROGRAM } from '../../support/program.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { type Ran, startToolmgr, toolmgrSession } from './toolmgr.ts';

const LONG = 180_000;
const PASSWORD = 'correct horse battery';
const VALUE = 'hunter2-the-value';
const TELLS = join(import.meta.dirname, 'servers/tells.mjs');
const WITH_PASSWORD = { TOOLMGR_SECRETS_PASSWORD: PASSWORD };
let state: string;

beforeEach(() => {
  state = temporaryFolder('run-secrets');
});

afterEach(async () => {
  for (const { name } of await readWorkloads(state)) await removeWorkload(state, name, { force: true });
}, LONG);

/** A process opens the secrets once, so that each of these commands needs its own. */
const OPENS_SECRETS: ReadonlySet<string | undefined> = new Set(['run', 'start', 'rm']);
const session = toolmgrSession();
const run = (args: readonly string[], env: Readonly<Record<string, string>> = WITH_PASSWORD): Promise<Ran> =>
  OPENS_SECRETS.has(args[0]) ? startToolmgr(state, args, '/', env).ended : session(state, args, '/', env);

const secretsFile = () => {
  const path = join(state, 'data/toolmgr/secrets_encrypted');
  return encryptedFile({ path, unlock: unlocker({ path, env: WITH_PASSWORD }) });
};

/** What `secret setup` and `secret set` do, with a key that is derived quickly. */
async function store(secrets: Readonly<Record<string, string>>): Promise<void> {
  const file = secretsFile();
  await createEncryptedFile(file.path, await newHeader(PASSWORD, { N: 1024, r: 8, p: 1 }));
  await mkdir(join(state, 'config/toolmgr'), { recursive: true });
  await writeFile(join(state, 'config/toolmgr/config.yaml'), 'secrets: { provider_type: encrypted }\n');
  await file.change(({ user }) => {
    for (const [name, value] of Object.entries(secrets)) user.set(name, value);
  });
}

const namesIn = async (scope: SecretScope) => [...(await secretsFile().read())[scope].keys()];

/** The environment of the server behind a workload. */
async function environmentOf(name: string): Promise<Record<string, string>> {
  const url = (await readWorkload(state, name))?.status.url ?? '';
  const { text } = await postModern(url, 'tools/call', { name: 'tell', arguments: {} });
  return JSON.parse(JSON.parse(text).result.content[0].text).env;
}

/** The text of all files of a folder. */
async function textsIn(folder: string): Promise<string> {
  const names = await readdir(folder, { recursive: true });
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8').catch(() => '')));
  return texts.join('\n');
}

/** Command lines and environments of all processes that can be read, except those of these tests. */
async function processTexts(file: 'cmdline' | 'environ'): Promise<string> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const texts = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '')));
  return texts.join('\n');
}

describe('run --secret', () => {
  proves(
    ['run.option.secret', 'run.option.secret-into-env'],
    'puts secrets into variables of a program, and nowhere else; an exported configuration has those of its machine',
    async () => {
      await store({ token: VALUE, other: 'another-value', last: 'last-value' });
      const flags = ['--secret', 'token,target=TOKEN', '--secret', 'other,target=BOTH', '--secret', 'last,target=BOTH'];
      const ran = await run([
        'run',
        '--name',
        'one',
        '--debug',
        '-e',
        'TOKEN=of --env',
        ...flags,
        process.execPath,
        '--',
        TELLS,
      ]);
      expect(ran).toMatchObject({ code: 0 });
      expect(await environmentOf('one')).toMatchObject({ TOKEN: VALUE, BOTH: 'last-value' });
      expect((await readWorkload(state, 'one'))?.config?.secrets).toEqual(['token,target=TOKEN', 'last,target=BOTH']);

      const shown = await Promise.all([
        run(['inspect', 'one']),
        run(['list', '--format', 'json']),
        run(['export', 'one']),
        run(['logs', 'one']),
        run(['logs', 'one', '--proxy']),
      ]);
      expect(shown[2]?.out).toContain('"token,target=TOKEN"');
      const everywhere = JSON.stringify(shown) + ran.out + ran.err + (await textsIn(state));
      for (const value of [VALUE, 'last-value', PASSWORD]) expect(everywhere).not.toContain(value);
      const listed =
        execFileSync('ps', ['axww', '-o', 'command='], { encoding: 'utf8' }) + (await processTexts('cmdline'));
      for (const value of [VALUE, PASSWORD]) expect(listed).not.toContain(value);
      expect(await processTexts('environ')).not.toContain(PASSWORD);

      // an exported configuration runs with the secrets of this machine
      const file = join(state, 'one.json');
      await writeFile(file, shown[2]?.out ?? '');
      expect(await run(['rm', '--force', 'one'])).toMatchObject({ code: 0 });
      expect(await run(['run', '--from-config', file])).toMatchObject({ code: 0 });
      expect((await environmentOf('one')).TOKEN).toBe(VALUE);
    },
    LONG,
  );

  it(
    'reads the values at each start, and says what is missing',
    async () => {
      await store({ token: VALUE });
      await run(['run', '--name', 'one', '--secret', 'token,target=TOKEN', process.execPath, '--', TELLS]);
      await run(['stop', 'one']);
      await secretsFile().change(({ user }) => void user.set('token', 'a newer one'));
      const without = await run(['start', 'one'], {});
      expect(without).toMatchObject({
        code: 1,
        err: expect.stringMatching(/one could not be started: .*there is no password/),
      });
      expect((await run(['start', 'one'])).code).toBe(0);
      expect((await environmentOf('one')).TOKEN).toBe('a newer one');

      await run(['stop', 'one']);
      await secretsFile().change(({ user }) => void user.delete('token'));
      expect(await run(['start', 'one'])).toMatchObject({
        code: 1,
        err: expect.stringMatching(/has no secret token: store it with toolmgr secret set token/),
      });
      expect((await readWorkload(state, 'one'))?.status).toMatchObject({
        status: 'error',
        message: expect.stringContaining('has no secret token'),
      });
    },
    LONG,
  );

  it(
    'makes nothing when a secret is missing or a reference is wrong',
    async () => {
      await store({ token: VALUE });
      const tells = [process.execPath, '--', TELLS];
      expect(await run(['run', '--secret', 'none,target=A', ...tells])).toMatchObject({
        code: 1,
        err: expect.stringMatching(/has no secret none/),
      });
      const ran = await run(['run', '--secret', 'token=hunter2', ...tells]);
      expect(ran).toMatchObject({ code: 1, err: expect.stringContaining('expected NAME,target=VARIABLE') });
      expect(ran.err).not.toContain('hunter2');
      for (const wrong of ['token', 'token,A', 'token,target=', 'token,target=1A', '../x,target=A', ',target=A']) {
        expect(() => readSecretReference(wrong, undefined), wrong).toThrow('expected NAME,target=VARIABLE');
      }
      expect(await run(['run', '--secret', 'token,target=A', 'https://mcp.example.com/mcp'])).toMatchObject({
        code: 1,
        err: expect.stringContaining('--secret is for programs: a URL has no environment'),
      });
      expect(await readWorkloads(state)).toEqual([]);
    },
    LONG,
  );

  it(
    'reads variables when nothing is set up, and for secrets that the file lacks',
    async () => {
      const flags = ['--secret', 'token,target=TOKEN', process.execPath, '--', TELLS];
      expect(await run(['run', '--name', 'one', ...flags], {})).toMatchObject({
        code: 1,
        err: expect.stringContaining(
          'there is no secret token: set the variable TOOLMGR_SECRET_token, or store secrets in an encrypted file: toolmgr secret setup',
        ),
      });
      expect(await run(['run', '--name', 'one', ...flags], { TOOLMGR_SECRET_token: VALUE })).toMatchObject({ code: 0 });
      expect((await environmentOf('one')).TOKEN).toBe(VALUE);
      await store({});
      const both = { ...WITH_PASSWORD, TOOLMGR_SECRET_token: VALUE };
      expect(await run(['run', '--name', 'two', ...flags], both)).toMatchObject({ code: 0 });
    },
    LONG,
  );

  const absence = keyringAbsence();
  it.skipIf(absence !== undefined)(
    `needs no password with a keyring, also for a proxy that is started alone ${absence ?? ''}`,
    async () => {
      const script = `
      run() { "$NODE" --conditions=development "$CLI" "$@"; }
      run secret setup && printf %s "$VALUE" | run secret set token &&
      run run --name one --secret token,target=TOKEN "$NODE" -- "$TELLS" && run stop one &&
      { "$NODE" --conditions=development "$PROXY" one </dev/null & } && touch "$READY" &&
      while test ! -e "$SEEN"; do sleep 0.1; done`;
      const [READY, SEEN] = [join(state, 'ready'), join(state, 'seen')];
      let isOver = false;
      const ran = withKeyring(script, [], {
        ...{ NODE: process.execPath, CLI: PROGRAM, TELLS, PROXY: PROXY_PROGRAM, VALUE, READY, SEEN },
        ...{ TOOLMGR_STATE_DIR: state, XDG_DATA_HOME: join(state, 'data'), XDG_CONFIG_HOME: join(state, 'config') },
      }).finally(() => {
        isOver = true;
      });
      const isServed = async () => existsSync(READY) && (await readWorkload(state, 'one'))?.status.status === 'running';
      await until(async () => isOver || (await isServed()), LONG);
      if (isOver) expect(await ran).toBe('a workload that runs');
      expect((await environmentOf('one')).TOKEN).toBe(VALUE);
      await writeFile(SEEN, '');
      expect(await ran).toMatchObject({ code: 0 });
    },
    LONG,
  );
});

describe('run --remote-forward-headers-secret', () => {
  proves(
    'run.option.remote-forward-headers-secret',
    'sends secrets of the provider as headers, which are nowhere else',
    async () => {
      await store({ key: VALUE, tenant: 'blue-tenant' });
      await using server = await recordingServer();
      const flags = [
        '--remote-forward-headers-secret',
        'X-Key=key',
        '--remote-forward-headers-secret',
        'X-Tenant=tenant',
      ];
      const ran = await run(['run', '--name', 'far', ...flags, '--remote-forward-headers', 'X-Plain=yes', server.url]);
      expect(ran).toMatchObject({ code: 0 });
      const url = (await readWorkload(state, 'far'))?.status.url ?? '';
      await postModern(url, 'tools/call', { name: 'echo', arguments: { message: 'hi' } });
      expect(server.calls[0]).toMatchObject({ 'x-key': VALUE, 'x-tenant': 'blue-tenant', 'x-plain': 'yes' });
      expect((await readWorkload(state, 'far'))?.config?.header_forward).toEqual({
        add_plaintext_headers: { 'X-Plain': 'yes' },
        add_headers_from_secret: { 'X-Key': 'key', 'X-Tenant': 'tenant' },
      });
      expect(ran.out + ran.err + (await textsIn(state))).not.toContain(VALUE);
      const both = await run(['run', ...flags, '--remote-forward-headers', 'x-key=1', server.url]);
      expect(both).toMatchObject({ code: 1, err: expect.stringContaining('a header is in headers and in headersEnv') });
      expect(both.err).not.toContain(VALUE);
    },
    LONG,
  );

  it(
    'refuses a value that no header can carry, and a program',
    async () => {
      await store({ key: 'two\nlines' });
      await using server = await recordingServer();
      const flag = ['--remote-forward-headers-secret', 'X-Key=key'];
      const ran = await run(['run', '--name', 'far', ...flag, server.url]);
      expect(ran).toMatchObject({ code: 1, err: expect.stringContaining('holds nothing a header can carry') });
      expect(ran.err).not.toContain('two');
      expect(await run(['run', ...flag, process.execPath, '--', TELLS])).toMatchObject({
        code: 1,
        err: expect.stringContaining('--remote-forward-headers-secret is for URLs'),
      });
    },
    LONG,
  );
});

describe('the secrets of a workload', () => {
  it(
    'are encrypted when that is set up, and removed with the workload',
    async () => {
      await store({});
      await using server = await recordingServer();
      const flags = ['--remote-auth-bearer-token', VALUE];
      expect(await run(['run', '--name', 'far', ...flags, server.url])).toMatchObject({ code: 0 });
      const url = (await readWorkload(state, 'far'))?.status.url ?? '';
      await postModern(url, 'tools/call', { name: 'echo', arguments: { message: 'hi' } });
      expect(server.calls[0]?.authorization).toBe(`Bearer ${VALUE}`);
      expect(await textsIn(state)).not.toContain(VALUE);
      const kept = JSON.parse(await readFile(join(workloadDir(state, 'far'), 'secrets.json'), 'utf8'));
      expect(kept).toEqual({ encrypted: { id: expect.stringMatching(/^far\/[0-9a-f]{8}$/) } });
      expect(await namesIn('system')).toEqual([`${kept.encrypted.id}/REMOTE_AUTH_BEARER_TOKEN`]);
      expect(await namesIn('user')).toEqual([]);

      // a name that is taken leaves no secrets
      expect(await run(['run', '--name', 'far', ...flags, server.url])).toMatchObject({ code: 1 });
      expect(await namesIn('system')).toHaveLength(1);
      await run(['stop', 'far']);
      expect(await run(['start', 'far'], {})).toMatchObject({
        code: 1,
        err: expect.stringContaining('there is no password'),
      });
      expect(await run(['start', 'far'])).toMatchObject({ code: 0 });
      expect(await run(['rm', '--force', 'far'])).toMatchObject({ code: 0 });
      expect(await namesIn('system')).toEqual([]);
    },
    LONG,
  );

  it(
    'that cannot be removed are named',
    async () => {
      await store({});
      await using server = await recordingServer();
      await run(['run', '--name', 'far', '--remote-auth-bearer-token', VALUE, server.url]);
      const removed = await run(['rm', '--force', 'far'], {});
      expect(removed.err).toMatch(/the secrets far\/[0-9a-f]{8} stay in .*toolmgr secret rm --system/);
      expect(await readWorkloads(state)).toEqual([]);
    },
    LONG,
  );
});
