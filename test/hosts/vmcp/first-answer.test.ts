import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { testClient } from '@toolmgr/core/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { type RunningCli, startCli } from '../../support/cli.ts';
import { SOURCE_PROGRAM } from '../../support/program.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { writeVmcpFile } from '../../support/vmcp-file.ts';

const LONG = 120_000;
const NOTING = pathToFileURL(join(import.meta.dirname, '../../support/note-modules.ts')).href;
/** Packages that the first response does not need: those of host routes and of other kinds of backends and callers. */
const LATER = /(?:node_modules|internal\/deps)\/(fastify|undici|ajv|jose|ioredis|@opentelemetry|@cedar-policy|@jitl)\b/;

let folder: string;
beforeEach(() => {
  folder = temporaryFolder('first');
});

const serve = async (): Promise<RunningCli> => {
  const file = await writeVmcpFile(folder, {});
  return startCli(['vmcp', 'serve', '-c', file, '--port', '0'], {
    script: SOURCE_PROGRAM,
    env: { NODE_OPTIONS: `--import=${NOTING}` },
  });
};

/** Loaded packages of {@link LATER}. */
const early = (text: string): string[] => [
  ...new Set([...text.matchAll(new RegExp(LATER, 'g'))].map(([, name]) => name ?? '')),
];

describe('the first response of vmcp serve', () => {
  it(
    'is sent before unneeded packages are loaded',
    async () => {
      await using running = await serve();
      const [, url = ''] = await running.printed(/serves (http:\S+)/);
      const client = await testClient((request) => fetch(request), url);
      expect(await client.toolNames()).toEqual([]);
      running.signal('SIGTERM');
      const { err } = await running.finished;
      expect(err).toMatch(/module .*node_modules\/zod/); // loads are recorded
      expect(err).toMatch(/module NativeModule http/);
      expect(early(err)).toEqual([]);
    },
    LONG,
  );

  it(
    'does not load fastify, which the first host route loads without schema compilers',
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
