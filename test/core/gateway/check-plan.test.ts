import {
  type Core,
  checkPlan,
  createGateway,
  definePlugin,
  GatewayFault,
  type PlanInput,
  type Plugin,
} from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const nothing = z.strictObject({});
const plugin = (address: string, apply: (core: Core) => void): Plugin =>
  definePlugin({ address, config: nothing, apply });

/** Accepts every caller, and has a strategy and a store. */
const ground = plugin('ground', ({ hooks, slots }) => {
  hooks.authenticate.tap('ground', () => ({ issuer: 'i', subject: 's', key: 'k', claims: {} }));
  slots.authStrategies.register('unauthenticated', { prepare: async () => ({ apply() {} }) });
});

/** What a plan with one more plugin is, and what a start says. */
const REFUSED: Readonly<Record<string, [apply: (core: Core) => void, message: RegExp, rest?: Partial<PlanInput>]>> = {
  'a plugin that throws': [
    () => {
      throw new Error('boom');
    },
    /^own could not be applied, at \S+check-plan\.test\.ts:\d+$/,
  ],
  'an asynchronous apply': [
    (async () => Promise.reject(new Error('late'))) as () => void,
    /^own: apply must not be asynchronous/,
  ],
  'a route that is mounted twice': [
    ({ hooks }) =>
      hooks.mount.tap('own', (routes) => {
        routes.add('GET', '/x', () => {});
        routes.add('GET', '/x', () => {});
      }),
    /^GET \/x is mounted twice$/,
  ],
  'two equal paths': [
    () => {},
    /is both the path of MCP and the path of event streams/,
    { endpoint: { sse: { path: '/mcp' } } },
  ],
  'a strategy that no plugin has': [
    () => {},
    /^slot authStrategies has no hmac/,
    { outgoingAuth: { default: { type: 'hmac' } } },
  ],
  'options that a strategy refuses': [
    ({ slots }) =>
      slots.authStrategies.register('hmac', { prepare: () => Promise.reject(new Error('expected a key')) }),
    /^outgoingAuth\.default could not be prepared$/,
    { outgoingAuth: { default: { type: 'hmac' } } },
  ],
  'a store of sessions that no plugin has': [
    () => {},
    /^slot stores has no redis/,
    { sessionStorage: { store: 'redis' } },
  ],
};

describe('checking a plan', () => {
  it.each(Object.entries(REFUSED))('refuses %s like the start', async (_, [apply, message, rest]) => {
    const plan: PlanInput = { plugins: [{ use: 'ground' }, { use: 'own' }], ...rest };
    const options = { plugins: [ground, plugin('own', apply)] };
    const start = await createGateway(plan, options).catch((cause: Error) => cause);
    expect(start).toMatchObject({ message: expect.stringMatching(message) });
    await expect(checkPlan(plan, options)).rejects.toEqual(start);
  });

  it('refuses plugins of which none authenticates callers', async () => {
    const options = { plugins: [plugin('own', () => {})] };
    await expect(checkPlan({ plugins: [{ use: 'own' }] }, options)).rejects.toThrow(
      'none of them authenticates callers',
    );
  });

  it('starts and stops nothing that waits, and says so', async () => {
    const ran: string[] = [];
    const waits = plugin('waits', ({ hooks }) => {
      hooks.starting.tapPromise('waits', async () => void ran.push('started'));
      hooks.stopping.tap('waits', () => void ran.push('stopped'));
    });
    const looksUp = plugin('looks-up', ({ hooks }) => {
      hooks.starting.tap('looks-up', () => void ran.push('looked up'));
      hooks.stopping.tap('looks-up', () => void ran.push('forgot'));
    });
    const plan = { plugins: [{ use: 'ground' }, { use: 'waits' }, { use: 'looks-up' }] };
    const check = await checkPlan(plan, { plugins: [ground, waits, looksUp] });
    expect(check).toEqual({ missingSecrets: [], notStarted: ['waits'] });
    expect(ran).toEqual(['looked up', 'forgot']);
  });

  it('accepts a secret that is missing here, and names it', async () => {
    const missing = plugin('own', ({ slots }) => {
      const prepare = () => Promise.reject(new GatewayFault('SECRET_MISSING', 'API_KEY is not set'));
      slots.authStrategies.register('hmac', { prepare });
    });
    const plan = { plugins: [{ use: 'ground' }, { use: 'own' }], outgoingAuth: { default: { type: 'hmac' } } };
    expect(await checkPlan(plan, { plugins: [ground, missing] })).toMatchObject({
      missingSecrets: ['API_KEY is not set'],
    });
  });
});
