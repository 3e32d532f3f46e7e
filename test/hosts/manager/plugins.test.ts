import { createLog, definePlugin, defineSlot } from '@toolmgr/core';
import { operation, operations, pageViews } from '@toolmgr/plugins/kit/operations';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { planFrom } from '../../../hosts/manager/manager-config.ts';
import { openFeatures } from '../../../hosts/manager/open-features.ts';
import { DEFAULT_PLAN, type ManagerPlan } from '../../../hosts/manager/plan.ts';
import { startManager } from '../../support/manager.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const hello = (address: string, path = `/api/v1beta/${address}`) =>
  definePlugin({
    address,
    config: z.strictObject({ greeting: z.string().default('Hello') }),
    apply(core, { greeting }) {
      const say = operation({
        id: address,
        method: 'GET',
        path,
        tag: 'hello',
        summary: 'Say hello',
        answers: { 200: { description: 'a greeting', schema: z.object({ text: z.string() }) } },
        problems: [],
        tool: { name: address, readOnly: true },
        run: async () => ({ status: 200, body: { text: greeting } }),
      });
      core.slot(operations).register(address, [say]);
    },
  });

const open = (plan: ManagerPlan, inline = [hello('hello')]) =>
  openFeatures({
    ...{
      state: '/nonexistent',
      env: {},
      signal: AbortSignal.abort(),
      version: '0.0.0',
      log: createLog('error', () => {}),
    },
    ...{ plan, inline },
  });

const without = (...addresses: readonly string[]) => DEFAULT_PLAN.filter(({ use }) => !addresses.includes(use));

describe('the plan of a manager', () => {
  const uses = (text: string) => planFrom(text, 'manager.yaml').map(({ use }) => use);
  const defaults = DEFAULT_PLAN.map(({ use }) => use);

  it('is the default one where the file says nothing else', () => {
    expect(uses('')).toEqual(defaults);
    expect(uses('plugins: []')).toEqual(defaults);
  });

  it('is added to, replaced in place and left out', () => {
    expect(uses('plugins: [{ use: ./a.ts }]')).toEqual([...defaults, './a.ts']);
    expect(uses('plugins: [{ use: ./a.ts, insteadOf: registry }]')).toEqual(
      defaults.map((use) => (use === 'registry' ? './a.ts' : use)),
    );
    expect(uses('without: [skills, upgrades]')).toEqual(
      defaults.filter((use) => use !== 'skills' && use !== 'upgrades'),
    );
  });

  it('has options of default plugins', () => {
    const plan = planFrom('plugins: [{ use: skills, with: { servesProjects: false } }]', 'manager.yaml');
    expect(plan.find(({ use }) => use === 'skills')?.with).toEqual({ servesProjects: false });
    expect(plan).toHaveLength(defaults.length);
  });

  it('is refused with the nearest known key, address or place', () => {
    const refusals = [
      ['plugin: []', /manager\.yaml.*plugin.*plugins/],
      ['plugins: [{ use: ./a.ts, insteadof: registry }]', /insteadOf/],
      ['without: [skill]', /skill is no default plugin, did you mean skills\?/],
      ['plugins: [{ use: ./a.ts, insteadOf: registri }]', /did you mean registry\?/],
      ['plugins: [{ use: ./a.ts, insteadOf: skills }, { use: ./b.ts, insteadOf: skills }]', /same place/],
      ['plugins: [', /manager\.yaml/],
    ] as const;
    for (const [text, sentence] of refusals) expect(() => planFrom(text, 'manager.yaml'), text).toThrow(sentence);
  });
});

describe('the plugins of a manager', () => {
  it('leave their operations and views out where they are left out', async () => {
    const [all, some] = await Promise.all([open(DEFAULT_PLAN.slice(0, -1)), open(without('skills', 'endpoints'))]);
    const tags = (given: typeof all) => new Set(given.operations.map(({ tag }) => tag.toLowerCase()));
    expect([tags(all).has('skills'), tags(some).has('skills')]).toEqual([true, false]);
    expect(all.views.map(({ name }) => name)).toEqual(['workloads', 'browse', 'clients', 'secrets', 'skills', 'pins']);
    expect(some.views.map(({ name }) => name)).toEqual(['workloads', 'browse', 'clients', 'secrets', 'pins']);
  });

  it('are refused for a wrong option, an unknown address, a route of another one or a plugin for gateways', async () => {
    const refusals = [
      [[{ use: 'clients', with: { folow: true } }], [], /folow.*follow/],
      [[{ use: 'registri' }], [], /registri.*registry/],
      [
        [{ use: 'hello' }, { use: 'other' }],
        [hello('hello'), hello('other', '/api/v1beta/hello')],
        /hello and other both/,
      ],
      [[{ use: 'limits' }], [forGateways], /the manager has no hook limit, which limits uses/],
      [[{ use: 'probes' }], [readsBackends], /the manager has no backends: this plugin is for gateways/],
    ] as const;
    for (const [plan, inline, sentence] of refusals)
      await expect(open([...plan], [...inline])).rejects.toThrow(sentence);
  });

  it('serve an operation as a route with options, in the OpenAPI document and beside the operations of the host', async () => {
    const plan = [{ use: 'hello', with: { greeting: 'Good day' } }];
    await using manager = await startManager({ plan, inline: [hello('hello')] });
    expect((await manager.request('GET', '/api/v1beta/hello')).body).toEqual({ text: 'Good day' });
    expect((await manager.request('GET', '/api/openapi.json')).body.paths['/api/v1beta/hello'].get.tags).toEqual([
      'hello',
    ]);
    expect((await manager.request('GET', '/api/v1beta/version')).status).toBe(200);
    expect((await manager.request('GET', '/api/v1beta/workloads')).status).toBe(404);
  });

  it('run what taps the start and the stop', async () => {
    const seen: string[] = [];
    const plugin = definePlugin({
      address: 'taps',
      config: z.strictObject({}),
      apply({ hooks }) {
        hooks.starting.tapPromise('taps', async () => void seen.push('started'));
        hooks.stopping.tapPromise('taps', async () => void seen.push('stopped'));
      },
    });
    const manager = await startManager({ plan: [{ use: 'taps' }], inline: [plugin] });
    expect(seen).toEqual(['started']);
    await manager.stop();
    expect(seen).toEqual(['started', 'stopped']);
  });

  it('stop the start of the manager when their own fails, and what was started is stopped', async () => {
    const seen: string[] = [];
    const plugins = ['good', 'bad'].map((address) =>
      definePlugin({
        address,
        config: z.strictObject({}),
        apply({ hooks }) {
          hooks.starting.tapPromise(address, async () => {
            if (address === 'bad') throw new Error('the file is locked');
            seen.push('started');
          });
          hooks.stopping.tapPromise(address, async () => void seen.push(`${address} stopped`));
        },
      }),
    );
    const home = temporaryFolder('plugins');
    const plan = [{ use: 'good' }, { use: 'bad' }];
    await expect(startManager({ plan, inline: plugins, home })).rejects.toThrow(/bad.*starting|the file is locked/);
    expect(seen).toContain('good stopped');
    const again = await startManager({ plan: [{ use: 'good' }], inline: plugins, home }); // the state is free again
    await again.stop();
  });

  it('may define a slot that another plugin fills', async () => {
    const greetings = defineSlot<string>('greetings');
    const said: string[] = [];
    const [fills, reads] = ['fills', 'reads'].map((address) =>
      definePlugin({
        address,
        config: z.strictObject({}),
        apply(core) {
          if (address === 'fills') core.slot(greetings).register('en', 'Hello');
          else said.push(...core.slot(greetings).names());
        },
      }),
    );
    await open([{ use: 'fills' }, { use: 'reads' }], [fills, reads] as never);
    expect(said).toEqual(['en']);
  });
});

it('a plugin may have a copy of its own of what it imports', async () => {
  const copy = '../../../plugins/kit/operations/extension-points.ts?copy';
  const { pageViews: others } = (await import(copy)) as { readonly pageViews: typeof pageViews };
  expect(others).not.toBe(pageViews);
  const plugin = definePlugin({
    address: 'other',
    config: z.strictObject({}),
    apply: (core) => core.slot(others).register('other', [{ name: 'mine', title: 'Mine', order: 1 }]),
  });
  const { views } = await open([{ use: 'other' }], [plugin as never]);
  expect(views.map(({ name }) => name)).toEqual(['mine']);
});

const forGateways = definePlugin({
  address: 'limits',
  config: z.strictObject({}),
  apply: ({ hooks }) => hooks.limit.tap('limits', () => undefined),
}) as unknown as ReturnType<typeof hello>;

const readsBackends = definePlugin({
  address: 'probes',
  config: z.strictObject({}),
  apply: ({ backends }) => void backends.states(),
}) as unknown as ReturnType<typeof hello>;
