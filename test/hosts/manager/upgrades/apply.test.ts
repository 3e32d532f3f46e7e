import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readWorkload, type WorkloadRecord } from '@toolmgr/plugins/kit/workloads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequirementId } from '../../../requirements.ts';
import { startCli } from '../../../support/cli.ts';
import {
  type ContainerEngine,
  engineCall,
  engineMissing,
  importServerImage,
  SERVER_IMAGE,
  startEngine,
} from '../../../support/container-engine.ts';
import { type DockerRegistry, registryMissing, startDockerRegistry } from '../../../support/docker-registry.ts';
import { ownFolders, type StartedManager, startManager } from '../../../support/manager.ts';
import { proves } from '../../../support/proves.ts';
import { temporaryFolderOfFile } from '../../../support/temporary-folder.ts';

const LONG = 240_000;
const REPOSITORY = 'org/server';
const missing = engineMissing('docker') ?? registryMissing();

describe('an upgrade of a container', () => {
  let engine: ContainerEngine;
  let registry: DockerRegistry;
  const home = temporaryFolderOfFile('apply');
  let manager: StartedManager;

  beforeAll(async () => {
    if (missing !== undefined) return;
    registry = await startDockerRegistry();
    engine = await startEngine('docker');
    await importServerImage(engine);
    for (const tag of ['1.0.0', '1.1.0']) await push(tag);
    await broken('1.2.0');
    await mkdir(join(home, 'config', 'toolmgr'), { recursive: true });
    await writeFile(join(home, 'config/toolmgr/config.yaml'), `local_registry_path: ${join(home, 'registry.json')}\n`);
    await offers('1.0.0');
    manager = await startManager({ home, env: { DOCKER_HOST: `unix://${engine.socket}` } });
  }, LONG);
  afterAll(async () => {
    if (missing !== undefined) return;
    await toolmgr('rm', '--force', '--all');
    await manager.stop();
    await engine[Symbol.asyncDispose]();
    await registry[Symbol.asyncDispose]();
  }, LONG);

  const upgrades = (ids: readonly RequirementId[], title: string, test: () => Promise<void>): void => {
    if (missing === undefined) proves([...ids], title, test, LONG);
    else it.skip(`${title} (${missing})`, test);
  };
  const toolmgr = (...args: string[]) =>
    startCli(args, {
      env: { ...ownFolders(home), DOCKER_HOST: `unix://${engine.socket}`, TOOLMGR_RUNTIME: undefined },
      cwd: '/',
    }).finished;
  const image = (tag: string) => `${registry.host}/${REPOSITORY}:${tag}`;
  const ask = (method: string, path: string) =>
    engineCall(engine.socket, method, `/v1.41/${path}`, undefined, undefined, {
      'x-registry-auth': Buffer.from('{}').toString('base64'),
    });
  const named = (text: string) => encodeURIComponent(text);
  /** Pushes the server under a tag; the engine forgets it. */
  const push = async (tag: string): Promise<void> => {
    const repository = named(`${registry.host}/${REPOSITORY}`);
    expect((await ask('POST', `images/${named(SERVER_IMAGE)}/tag?repo=${repository}&tag=${tag}`)).status).toBe(201);
    expect((await ask('POST', `images/${repository}/push?tag=${tag}`)).text).not.toContain('"error"');
    await ask('DELETE', `images/${named(image(tag))}?force=true`);
  };
  /** The same image with an entrypoint that ends at once. */
  const broken = async (tag: string): Promise<void> => {
    const { text } = await engineCall(engine.socket, 'POST', '/v1.41/containers/create', { Image: SERVER_IMAGE });
    const { Id } = JSON.parse(text) as { readonly Id: string };
    const changes = named('ENTRYPOINT ["/bin/sh", "-c", "exit 3"]');
    const committed = `commit?container=${Id}&repo=${named(`${registry.host}/${REPOSITORY}`)}&tag=${tag}&changes=${changes}`;
    expect((await engineCall(engine.socket, 'POST', `/v1.41/${committed}`, {})).status).toBe(201);
    await ask('DELETE', `containers/${Id}`);
    expect((await ask('POST', `images/${named(`${registry.host}/${REPOSITORY}`)}/push?tag=${tag}`)).text).not.toContain(
      '"error"',
    );
    await ask('DELETE', `images/${named(image(tag))}?force=true`);
  };
  const offers = (tag: string, more: object = {}) =>
    writeFile(
      join(home, 'registry.json'),
      JSON.stringify({ servers: { web: { image: image(tag), transport: 'stdio', args: ['stdio'], ...more } } }),
    );
  const recordOf = async (): Promise<WorkloadRecord> => {
    const record = await readWorkload(manager.state, 'web');
    if (record === undefined) throw new Error('there is no web');
    return record;
  };
  const runsWith = async (tag: string, port: number | undefined): Promise<void> => {
    const { config, alive, status } = await recordOf();
    expect(status).toMatchObject({ status: 'running', desired: 'running', port });
    expect(alive).toBe(true);
    expect(config?.image).toBe(image(tag));
    const { text } = await engineCall(engine.socket, 'GET', '/v1.41/containers/json');
    const images = (JSON.parse(text) as { readonly Image: string }[]).map((each) => each.Image);
    expect(images).toEqual([image(tag)]);
  };
  const local = async (tag: string): Promise<boolean> =>
    (await ask('GET', `images/${named(image(tag))}/json`)).status === 200;
  const check = () => manager.request('GET', '/api/v1beta/workloads/web/upgrade-check');
  const apply = (body?: unknown) => manager.request('POST', '/api/v1beta/workloads/web/upgrade', body);

  upgrades(
    [
      'manager.upgrades.apply-200',
      'manager.upgrades.apply-422',
      'manager.upgrades.apply-500',
      'manager.upgrades.apply-order',
      'manager.upgrades.apply-keeps-configuration',
    ],
    'pulls first, keeps the configuration and the port, and restores the old one when the new one does not become ready',
    async () => {
      const ran = await toolmgr('run', '--isolate-network=false', '--env', 'KEPT=yes', '--label', 'team=a', 'web');
      expect(ran, ran.err).toMatchObject({ code: 0 });
      const before = await recordOf();
      const { port } = before.status;

      // nothing is touched when the image is not there, or its signature is missing
      for (const [tag, more] of [
        ['9.0.0', {}],
        ['1.1.0', { provenance: { repository_uri: 'https://github.com/org/server' } }],
        ['1.1.0', { env_vars: [{ name: 'NEEDED', required: true }] }],
      ] as const) {
        await offers(tag, more);
        const refused = await apply();
        expect(refused, refused.text).toMatchObject({ status: 422 });
        expect(await recordOf()).toEqual(before);
      }

      await offers('1.1.0');
      expect(await check()).toMatchObject({ status: 200, body: { result: { status: 'upgrade-available' } } });
      expect(await local('1.1.0')).toBe(false);
      const applied = await apply({ env: { ADDED: 'too' } });
      expect(applied, applied.text).toMatchObject({
        status: 200,
        body: {
          result: {
            status: 'up-to-date',
            current_image: image('1.1.0'),
            reason: expect.stringContaining('was upgraded'),
          },
        },
      });
      await runsWith('1.1.0', port);
      const { config } = await recordOf();
      const { image: _, env_vars, ...kept } = config ?? { env_vars: {} };
      const { image: __, env_vars: oldVariables, ...old } = before.config ?? { env_vars: {} };
      expect(kept).toEqual(old);
      expect(env_vars).toEqual({ ...oldVariables, ADDED: 'too' });
      expect(await check()).toMatchObject({ body: { result: { status: 'up-to-date' } } });

      // the next version ends at once
      await offers('1.2.0');
      const failed = await apply();
      expect(failed, failed.text).toMatchObject({
        status: 500,
        body: { detail: expect.stringMatching(/did not become ready.*the old one is restored and runs again/s) },
      });
      await runsWith('1.1.0', port);
      const byCommand = await toolmgr('upgrade', 'apply', 'web');
      expect(byCommand).toMatchObject({
        code: 1,
        err: expect.stringContaining('the old one is restored and runs again'),
      });
      await runsWith('1.1.0', port);
      const list = await toolmgr('upgrade', 'check', '--format', 'json');
      expect(JSON.parse(list.out)).toMatchObject([{ workload_name: 'web', status: 'upgrade-available' }]);
    },
  );
});
