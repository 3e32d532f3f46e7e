import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readWorkload, workloadDir } from '@toolmgr/plugins/kit/workloads';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { configFromFile } from '../../../hosts/workloads/config/from-config.ts';
import { postModern } from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { allow, patching, webhookServer } from '../../support/webhook-server.ts';
import { filesIn, planned, served } from './planned-gateway.ts';
import { toolmgrSession } from './toolmgr.ts';

const LONG = 120_000;
const session = toolmgrSession();
const folder = temporaryFolderOfFile('webhooks');
const fileWith = filesIn(folder);
const far = await recordingServer();
afterEach(() => {
  delete process.env.TOOLMGR_SECRET_HOOK;
});
afterAll(() => far[Symbol.asyncDispose]());

const OPEN = { tls_config: { insecure_skip_verify: true } };
const echo = (url: string) => postModern(url, 'tools/call', { name: 'echo', arguments: { message: 'hi' } });

describe('the webhooks of a workload', () => {
  proves('run.option.webhook-config', 'are asked about its calls; the file is JSON or YAML', async () => {
    await using mutating = await webhookServer(
      patching({ op: 'replace', path: '/mcp_request/params/arguments/message', value: 'changed' }),
    );
    await using validating = await webhookServer(({ payload }) => ({
      allowed: JSON.stringify(payload.mcp_request.params.arguments) === '{"message":"changed"}',
    }));
    const yaml = await fileWith(
      'hooks.yaml',
      `mutating:\n  - name: change\n    url: ${mutating.url}\n    timeout: 2s\n    tls_config: { insecure_skip_verify: true }\n`,
    );
    const json = await fileWith('hooks.json', { validating: [{ name: 'check', url: validating.url, ...OPEN }] });
    await using given = await served(['--webhook-config', yaml, '--webhook-config', json, far.url]);
    const { status, text } = await echo(given.url);
    expect(status).toBe(200);
    expect(text).toContain('changed');
    expect(validating.requests[0]?.payload).toMatchObject({
      principal: null,
      context: { source_ip: '127.0.0.1', transport: 'streamable-http' },
    });
  });

  proves('run.option.webhook-config-merged', 'are merged by name, in order', async () => {
    const hook = (name: string, host: string) => ({ name, url: `https://${host}.example/` });
    const first = await fileWith('first.json', {
      validating: [hook('a', 'one'), hook('b', 'one')],
      mutating: [hook('a', 'm')],
    });
    const second = await fileWith('second.json', {
      validating: [hook('c', 'two'), { ...hook('a', 'two'), timeout: 3e9, tls_config: { ca_bundle_path: 'ca.pem' } }],
    });
    const { config } = await planned(['--webhook-config', first, '--webhook-config', second, far.url]);
    expect(config.validating_webhooks).toEqual([
      {
        ...hook('a', 'two'),
        timeout: 3e9,
        failure_policy: 'fail',
        tls_config: { ca_bundle_path: join(folder, 'ca.pem') },
      },
      { ...hook('b', 'one'), timeout: 10e9, failure_policy: 'fail' },
      { ...hook('c', 'two'), timeout: 10e9, failure_policy: 'fail' },
    ]);
    expect(config.mutating_webhooks?.map(({ url }) => url)).toEqual(['https://m.example/']);
  });

  proves('choice.webhooks.config', 'are refused before anything starts, with file, path and nearest key', async () => {
    const wrong = async (value: unknown, expected: RegExp): Promise<void> => {
      const file = await fileWith('wrong.yaml', value);
      await expect(planned(['--webhook-config', file, far.url])).rejects.toThrow(expected);
    };
    await wrong({ validatin: [] }, /wrong\.yaml: unknown key "validatin", did you mean "validating"\?/);
    await wrong(
      { mutating: [{ name: 'a', url: 'https://a.example', timout: '5s' }] },
      /"timout", did you mean "timeout"/,
    );
    await wrong({ mutating: [{ name: 'a', url: 'http://a.example' }] }, /mutating.*url.*expected https/);
    await wrong('{', /neither JSON nor YAML/);
    const named = { validating: [{ name: 'a', url: 'https://a.example', hmac_secret_ref: 'HOOK' }] };
    await wrong(
      named,
      /a\.hmac_secret_ref: there is no secret HOOK; store it with toolmgr secret set HOOK, set the variable TOOLMGR_SECRET_HOOK/,
    );
    await expect(planned(['--webhook-config', join(folder, 'none'), far.url])).rejects.toThrow(/cannot be read/);
  });

  proves(
    ['choice.webhooks.signature', 'choice.general.secrets-by-reference'],
    'have secrets that are kept apart from the configuration, and exported as references',
    async () => {
      process.env.TOOLMGR_SECRET_HOOK = 'the-hook-secret';
      await using server = await webhookServer(allow);
      const hooks = [{ name: 'a', url: server.url, ...OPEN, hmac_secret_ref: 'HOOK' }];
      const file = await fileWith('signed.json', { validating: hooks });
      const state = await mkdtemp(join(folder, 'state-'));
      const begun = await session(state, ['run', '--name', 'far', '--webhook-config', file, far.url]);
      expect(begun).toMatchObject({ code: 0 });
      delete process.env.TOOLMGR_SECRET_HOOK;
      const url = (await readWorkload(state, 'far'))?.status.url ?? '';
      expect((await echo(url)).status).toBe(200);
      expect(server.requests.at(-1)?.headers['x-toolmgr-signature']).toMatch(/^sha256=[0-9a-f]{64}$/);
      const stored = await readFile(join(workloadDir(state, 'far'), 'run.json'), 'utf8');
      expect(stored).not.toContain('the-hook-secret');
      const exported = join(folder, 'exported.json');
      expect(await session(state, ['export', 'far', exported])).toMatchObject({ code: 0 });
      const document = JSON.parse(await readFile(exported, 'utf8'));
      expect(document.validating_webhooks).toEqual([
        { ...hooks[0], timeout: 10e9, failure_policy: 'fail', hmac_secret_ref: 'HOOK,target=hmac_secret' },
      ]);
      await session(state, ['rm', '--force', 'far']);
      const options = { debug: false, cwd: folder, nowMs: 0 };
      await expect(configFromFile(exported, options, {})).rejects.toThrow('set TOOLMGR_SECRET_HOOK');
      const read = await configFromFile(exported, options, { TOOLMGR_SECRET_HOOK: 'x' });
      expect(read.secrets).toEqual({ HOOK: 'x' });
    },
    LONG,
  );

  it('are not asked without the option', async () => {
    const { plan } = await planned([far.url]);
    expect(plan.plugins.map(({ use }) => use)).not.toContain('interception/webhooks');
  });
});
