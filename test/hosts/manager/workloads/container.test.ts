import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ContainerEngine,
  engineMissing,
  importServerImage,
  SERVER_IMAGE,
  startEngine,
} from '../../../support/container-engine.ts';
import { type StartedManager, startManager } from '../../../support/manager.ts';
import { outcomeOf, removeAll } from './small.ts';

const BASE = '/api/v1beta/workloads';
const LONG = 240_000;
const missing = engineMissing('docker');

describe.skipIf(missing !== undefined)(
  `workloads in containers over HTTP${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let engine: ContainerEngine;
    let manager: StartedManager;

    beforeAll(async () => {
      engine = await startEngine('docker');
      await importServerImage(engine);
      manager = await startManager({ env: { DOCKER_HOST: `unix://${engine.socket}` } });
    }, LONG);

    afterAll(async () => {
      await removeAll(manager.state);
      await manager.stop();
      await engine[Symbol.asyncDispose]();
    }, LONG);

    it(
      'are created, edited, sent back unchanged, and keep their old configuration when the new image does not exist',
      async () => {
        const body = {
          name: 'boxed',
          image: SERVER_IMAGE,
          transport: 'stdio',
          env_vars: { LEVEL: 'info', API_KEY: 's3cr3t-value' },
          network_isolation: false,
          permission_profile: { name: 'own', network: { mode: 'none' } },
        };
        const created = await manager.request('POST', BASE, body);
        expect(created.status, created.text).toBe(201);
        const detail = await manager.request('GET', `${BASE}/boxed`);
        expect(detail.body).toMatchObject({
          image: SERVER_IMAGE,
          env_vars: { LEVEL: 'info', API_KEY: '[secret]' },
          permission_profile: { name: 'own', network: { mode: 'none' } },
          proxy_port: created.body.port,
        });
        const exported = await manager.request('GET', `${BASE}/boxed/export`);
        const echoed = await manager.request('POST', `${BASE}/boxed/edit`, detail.body);
        expect(echoed.body).toEqual(created.body);
        expect((await manager.request('GET', `${BASE}/boxed/export`)).body).toEqual(exported.body);
        const edited = await manager.request('POST', `${BASE}/boxed/edit`, {
          ...detail.body,
          cmd_arguments: ['stdio'],
        });
        expect(edited.status, edited.text).toBe(200);
        const failed = await manager.request('POST', `${BASE}/boxed/edit`, {
          ...detail.body,
          image: '127.0.0.1:9/none/server:1',
        });
        expect([404, 422], failed.text).toContain(failed.status);
        expect(failed.body.detail).toContain('the old configuration is restored and runs');
        expect((await manager.request('GET', `${BASE}/boxed`)).body).toMatchObject({
          image: SERVER_IMAGE,
          cmd_arguments: ['stdio'],
        });
        expect(await outcomeOf(manager, await manager.request('DELETE', `${BASE}/boxed`))).toMatchObject({
          status: 'succeeded',
        });
      },
      LONG,
    );

    it(
      'are refused with 404 for an image that does not exist',
      async () => {
        const answer = await manager.request('POST', BASE, { name: 'none', image: '127.0.0.1:9/none/server:1' });
        expect([404, 422], answer.text).toContain(answer.status);
        expect((await manager.request('GET', `${BASE}/none`)).status).toBe(404);
      },
      LONG,
    );
  },
);
