import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type StartedManager, startManager } from '../../support/manager.ts';

interface Mistake {
  readonly what: string;
  readonly env?: Readonly<Record<string, string>>;
  make?(manager: StartedManager): Promise<unknown>;
  /** Operations that answer with it, at least. */
  readonly met: number;
  readonly sentence: RegExp;
}

const SECRETS = '/api/v1beta/secrets';

const MISTAKES: readonly Mistake[] = [
  {
    what: 'a password in a variable that does not open the secrets',
    async make({ request }) {
      expect((await request('POST', SECRETS, { provider_type: 'encrypted' })).status).toBe(201);
      process.env.TOOLMGR_SECRETS_PASSWORD = 'another password';
    },
    met: 5,
    sentence: /secrets_encrypted cannot be opened: the password in TOOLMGR_SECRETS_PASSWORD is wrong$/,
  },
  {
    what: 'an unknown provider of secrets in a variable',
    env: { TOOLMGR_SECRETS_PROVIDER: 'vault' },
    met: 6,
    sentence: /^TOOLMGR_SECRETS_PROVIDER: expected encrypted, /,
  },
  {
    what: 'a file of settings that is not valid',
    async make({ home }) {
      await mkdir(join(home, 'config/toolmgr'), { recursive: true });
      await writeFile(join(home, 'config/toolmgr/config.yaml'), 'registries: 5\n');
    },
    met: 30,
    sentence: /config\.yaml: registries: /,
  },
];

it.each(MISTAKES)(
  'no operation answers 500 to $what',
  async ({ env, make, met, sentence }) => {
    await using manager = await startManager({
      env: { TOOLMGR_SECRETS_PASSWORD: undefined, TOOLMGR_SECRETS_PROVIDER: undefined, ...env },
    });
    await make?.(manager);
    const answers = [];
    for (const { id, method, path, body, bodyExample, timeLimit } of manager.operations) {
      if (timeLimit === 'stream') continue;
      const url = path.replace(/\{(\w+)\}/g, (_, name: string) =>
        path.includes('clients') ? 'cursor' : (VALUES[name] ?? 'a'),
      );
      const given = body === undefined ? undefined : (bodyExample ?? {});
      const { status, body: answered } = await manager.request(method, QUERIES[id] ?? url, given);
      answers.push({ id, status, detail: String(answered?.detail) });
    }
    expect(answers.filter(({ status }) => status === 500)).toEqual([]);
    const named = answers.filter(({ status, detail }) => status === 400 && sentence.test(detail));
    expect(named.length).toBeGreaterThanOrEqual(met);
    expect(manager.logged.filter((line) => line.includes('"error"'))).toEqual([]);
  },
  60_000,
);

const VALUES: Readonly<Record<string, string>> = { key: 'TOKEN', registryName: 'default', name: 'default' };
const QUERIES: Readonly<Record<string, string>> = { getSkillContent: '/api/v1beta/skills/content?ref=a' };
