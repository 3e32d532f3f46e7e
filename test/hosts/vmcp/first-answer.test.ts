import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { testClient } from '../../../core/testing/index.ts';
import { type RunningCli, startCli } from '../../support/cli.ts';

const LONG = 60_000;
const NOTING = pathToFileURL(join(import.meta.dirname, '../../support/note-modules.ts')).href;
/** What the first answer does not need: packages that host routes, backends and callers of other kinds bring. */
const LATER = /(?:node_modules|internal\/deps)\/(fastify|undici|ajv|jose|ioredis|@opentelemetry|@cedar-policy|@jitl)\b/;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolmgr-first-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const serve = async (): Promise<RunningCli> => {
  const file = join(folder, 'vmcp.yaml');
  const config = {
    name: 'first',
    groupRef: 'dev',
    incomingAuth: { type: 'anonymous' },
    outgoingAuth: { source: 'inline' },
    aggregation: { conflictResolution: 'prefix' },
    backends: [],
  };
  await writeFile(file, stringify(config));
  return startCli(['vmcp', 'serve', '-c', file, '--port', '0'], { env: { NODE_OPTIONS: `--import=${NOTING}` } });
};

/** Packages of modules that were loaded and belong to {@link LATER}. */
const early = (text: string): string[] => [
  ...new Set([...text.matchAll(new RegExp(LATER, 'g'))].map(([, name]) => name ?? '')),
];

describe('the first answer of vmcp serve', () => {
  it(
    'comes before packages are loaded that it does not need',
    async () => {
      await using running = await serve();
      const [, url = ''] = await running.printed(/serves (http:\S+)/);
      const client = await testClient((request) => fetch(request), url);
      expect(await client.toolNames()).toEqual([]);
      running.signal('SIGTERM');
      const { err } = await running.finished;
      expect(err).toMatch(/module .*node_modules\/zod/); // loads are noted
      expect(err).toMatch(/module NativeModule http/);
      expect(early(err)).toEqual([]);
    },
    LONG,
  );

  it(
    'leaves host routes their router, which comes with the first of them, without compilers of schemas',
    async () => {
      await using running = await serve();
      const [, url = ''] = await running.printed(/serves (http:\S+)/);
      const answers = await Promise.all(['/health', '/readyz'].map((path) => fetch(new URL(path, url))));
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      running.signal('SIGTERM');
      expect(early((await running.finished).err)).toEqual(['fastify']);
    },
    LONG,
  );
});
