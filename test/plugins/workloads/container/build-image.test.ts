import { buffer } from 'node:stream/consumers';
import type { BuildPlan } from '@toolmgr/plugins/workloads/container';
import { describe, expect, it } from 'vitest';
import { buildImage, ensureBuilt } from '../../../../plugins/workloads/container/build/build-image.ts';
import { planBuild } from '../../../../plugins/workloads/container/build/plan-build.ts';
import type { Engine } from '../../../../plugins/workloads/container/engine.ts';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2027-01-15T08:00:00.000Z');

type Message = { readonly stream?: string; readonly error?: string };

/** An engine that has the base image, an image of the given age, and answers a build with messages. */
function fakeEngine({ ageMs, messages = [] }: { readonly ageMs?: number; readonly messages?: readonly Message[] }) {
  const builds: { readonly context: string; readonly options: Record<string, unknown> }[] = [];
  const inspected = { Id: 'sha256:1', Config: {}, Created: new Date(NOW - (ageMs ?? 0)).toISOString() };
  const pruned: string[] = [];
  const removed: string[] = [];
  const api = {
    getImage: (name: string) => ({
      remove: async () => void removed.push(name),
      inspect: async () => {
        if (name.startsWith('localhost/') && ageMs === undefined)
          throw Object.assign(new Error('none'), { statusCode: 404 });
        return inspected;
      },
    }),
    buildImage: async (context: NodeJS.ReadableStream, options: Record<string, unknown>) => {
      builds.push({ context: (await buffer(context)).toString('latin1'), options });
      return {};
    },
    pruneImages: async ({ filters }: { readonly filters: string }) => void pruned.push(filters),
    modem: {
      followProgress: (_: unknown, done: (cause: Error | null) => void, each: (message: Message) => void) => {
        for (const message of messages) each(message);
        done(null);
      },
    },
  };
  return {
    engine: { kind: 'docker', socketPath: '/none', version: '1', api } as unknown as Engine,
    builds,
    pruned,
    removed,
  };
}

async function plan(text: string, env: Readonly<Record<string, string>> = {}): Promise<BuildPlan> {
  const made = await planBuild(
    text,
    { baseImage: 'base.example/node:1' },
    { cwd: '/', env: { HOME: '/none', ...env } },
  );
  if ('reason' in made) throw new Error(made.reason);
  return made;
}

const watch = (onLine: (line: string) => void = () => {}) => ({ signal: new AbortController().signal, onLine });

describe('the image of a package', () => {
  it('is built when it is not there, and only then for an exact version', async () => {
    const exact = await plan('npx://pkg@1.0.0');
    const fresh = fakeEngine({});
    expect(await ensureBuilt(fresh.engine, exact, watch(), { renew: true, nowMs: NOW })).toBe('built');
    expect(fresh.builds).toHaveLength(1);
    expect(fresh.builds[0]?.options).toMatchObject({
      t: exact.tag,
      labels: { 'dev.toolmgr.built-from': 'npx://pkg@1.0.0' },
    });
    const old = fakeEngine({ ageMs: 10 * DAY_MS });
    expect(await ensureBuilt(old.engine, exact, watch(), { renew: true, nowMs: NOW })).toBe('present');
    expect(old.builds).toEqual([]);
  });

  it('is built again after a day for a floating version, when a run asks for that', async () => {
    const floating = await plan('npx://pkg');
    const times = [
      { ageMs: DAY_MS - 1, renew: true, outcome: 'present' },
      { ageMs: DAY_MS + 1, renew: true, outcome: 'built' },
      { ageMs: DAY_MS + 1, renew: false, outcome: 'present' },
    ];
    for (const { ageMs, renew, outcome } of times) {
      expect(await ensureBuilt(fakeEngine({ ageMs }).engine, floating, watch(), { renew, nowMs: NOW })).toBe(outcome);
    }
    const renewed = fakeEngine({ ageMs: 2 * DAY_MS });
    await ensureBuilt(renewed.engine, floating, watch(), { renew: true, nowMs: NOW });
    expect(renewed.removed).toEqual(['sha256:1']);
    const failing = fakeEngine({ ageMs: 2 * DAY_MS, messages: [{ error: 'no network' }] });
    expect(await ensureBuilt(failing.engine, floating, watch(), { renew: true, nowMs: NOW })).toBe('kept');
  });

  it('fails with the last lines of its build, without passwords of the machine', async () => {
    const secret = await plan('npx://pkg', { NPM_CONFIG_REGISTRY: 'https://me:s3cret@npm.example/' });
    const lines = Array.from({ length: 40 }, (_, at) => ({ stream: `line ${at}\n` }));
    const messages = [
      ...lines,
      { stream: '\u001b[91mGET https://me:s3cret@npm.example/pkg\u001b[0m\r\n' },
      { error: 'self-signed certificate in certificate chain' },
    ];
    const { engine, builds, pruned } = fakeEngine({ messages });
    const seen: string[] = [];
    const failed = await buildImage(
      engine,
      secret,
      watch((line) => void seen.push(line)),
    ).catch((cause: Error) => cause);
    const text = failed instanceof Error ? failed.message : '';
    expect(text).toMatch(/^the image of npx:\/\/pkg could not be built:\n {2}line 22\n/);
    expect(text).toContain('GET https://***@npm.example/pkg\n');
    expect(text).toContain('--ca-cert FILE');
    expect(`${text}${seen.join()}${builds[0]?.context}`).not.toContain('s3cret');
    expect(text).not.toContain('\u001b');
    expect(builds[0]?.options.buildargs).toEqual({ NPM_CONFIG_REGISTRY: 'https://me:s3cret@npm.example/' });
    const label = / AS builder\nLABEL (dev\.toolmgr\.builder=[0-9a-f-]{36})\n/.exec(builds[0]?.context ?? '')?.[1];
    expect(pruned).toEqual([expect.stringContaining(label ?? 'no label')]);
  });

  it('names the options that help when its base image is not there', async () => {
    const { engine } = fakeEngine({});
    const absent = { ...(await plan('uvx://pkg')), baseImages: ['localhost/none:1'] };
    await expect(buildImage(engine, absent, watch())).rejects.toThrow(/--runtime-image.*--runtime process/);
  });
});
