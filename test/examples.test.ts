import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { proves } from './support/proves.ts';

const ROOT = join(import.meta.dirname, '..');
const STORY_MS = 120_000;

const run = promisify(execFile);

/** Runs a story like `npm run examples`; rejects with its output when the exit code is not 0. */
function tell(name: string, env: object = {}): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const argv = ['--conditions=development', join('examples', name, 'story.ts')];
  return run(process.execPath, argv, {
    cwd: ROOT,
    timeout: STORY_MS,
    killSignal: 'SIGKILL',
    env: { ...process.env, ...env },
  });
}

describe('the examples', () => {
  proves(
    'ask.embedding.plain-node',
    'run only the core in a plain Node HTTP server',
    async () => {
      const { stdout } = await tell('embed-node-http');
      expect(stdout).toMatch(/a legacy client listed \d+ tools/);
      expect(stdout).toMatch(/a modern client listed \d+ tools/);
    },
    STORY_MS,
  );

  proves(
    'ask.embedding.fastify',
    'run the core in an existing Fastify app, by handle and by fetch',
    async () => {
      const { stdout } = await tell('embed-fastify');
      expect(stdout.match(/listed \d+ tools at \/(mcp|assistant)/g)).toHaveLength(4);
    },
    STORY_MS,
  );

  proves(
    'ask.embedding.express',
    'run the core in an Express app whose parser reads bodies first',
    async () => {
      const { stdout } = await tell('embed-express');
      expect(stdout.match(/listed \d+ tools at \/(mcp|api\/assistant)/g)).toHaveLength(4);
      expect(stdout).toContain('gives an error immediately');
    },
    STORY_MS,
  );

  proves(
    'ask.embedding.hono',
    'run the core in an existing Hono app, with event streams, cancelled calls and ended sessions',
    async () => {
      const { stdout } = await tell('embed-hono');
      expect(stdout.match(/listed \d+ tools at \/(mcp|api\/assistant)/g)).toHaveLength(4);
      expect(stdout).toMatch(/a legacy client got 4 events and cancelled a call/);
      expect(stdout).toMatch(/a modern client got 4 events and cancelled a call/);
    },
    STORY_MS,
  );

  proves(
    ['ask.core.custom-plugin-by-path', 'ask.plugin.by-path'],
    'authenticate callers by a custom plugin that the plan names by its path',
    async () => {
      const { stdout } = await tell('custom-auth');
      expect(stdout).toContain('were refused');
    },
    STORY_MS,
  );

  it(
    'have a plugin with a slot of its own, which a second plugin fills',
    async () => {
      expect((await tell('own-extension-point')).stdout).toContain('masked a result with the mask of another one');
    },
    STORY_MS,
  );

  it(
    'serve two callers of different groups, and find their calls in the audit trail and the metrics',
    async () => {
      const { stdout } = await tell('two-callers');
      expect(stdout).toMatch(/Bob +files_write_file +denied/);
      expect(stdout).toMatch(/reads the graph +limited +again in \d+ s/);
      expect(stdout).toContain('all of them recorded');
    },
    STORY_MS,
  );

  it(
    'sign a person in with a browser, connect a second account when a call needs it, and name the person in the audit log',
    async () => {
      const { stdout } = await tell('sign-in');
      expect(stdout).toMatch(/calendar_whoami needs a connection: http:\/\/127\.0\.0\.1:\d+\/oauth\/connect\?ticket=/);
      expect(stdout).toMatch(/notes sees +Ada Lovelace \(ada\)\ncalendar sees +Ada \(countess@calendar\)/);
      expect(stdout).toContain('Ada Lovelace | calendar_whoami | success');
    },
    STORY_MS,
  );

  it(
    'sign a person in without a browser',
    async () => {
      const { stdout } = await tell('sign-in', { CHROMIUM: '/no/chromium' });
      expect(stdout).toContain('signed in with requests without a browser: Ada Lovelace');
      expect(stdout).toContain('two accounts of one person');
    },
    STORY_MS,
  );

  it(
    'do one job tool by tool, by a composite, by a script and by search, and print the savings',
    async () => {
      const { stdout } = await tell('fewer-round-trips');
      const saved = /saves (\d+) of 12 round trips, [1-9]\d* % of the context, [1-9]\d* % of the tokens read/.source;
      for (const [way, trips] of [
        ['composite', '11'],
        ['script', '11'],
        ['found composite', '10'],
      ])
        expect(new RegExp(`^${way}: ${saved}$`, 'm').exec(stdout)?.[1]).toBe(trips);
    },
    STORY_MS,
  );

  it.each(others())('%s passes its own checks', async (name) => expect(await tell(name)).toBeDefined(), STORY_MS);
});

/** Stories without their own test. */
function others(): readonly string[] {
  const told = new Set([
    'custom-auth',
    'embed-express',
    'embed-fastify',
    'embed-hono',
    'embed-node-http',
    'fewer-round-trips',
    'own-extension-point',
    'sign-in',
    'two-callers',
  ]);
  return readdirSync(join(ROOT, 'examples')).filter(
    (name) => !told.has(name) && existsSync(join(ROOT, 'examples', name, 'story.ts')),
  );
}
