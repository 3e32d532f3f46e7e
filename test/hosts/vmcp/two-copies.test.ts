import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { GatewayFault, UserActionRequired } from '@toolmgr/core';
import { beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { RawJsonError, TooManyElements } from '../../../core/json/json-errors.ts';
import { cli, startCli } from '../../support/cli.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';

const ROOT = join(import.meta.dirname, '../../..');
const LONG = 120_000;

/** A plugin whose errors are those of its own copy of the core. */
const PLUGIN = `
  import { definePlugin, GatewayFault, UserActionRequired } from '@toolmgr/core';
  const THROWN = {
    far_echo: () => new UserActionRequired('connect your account', 'https://accounts.example.com/connect'),
    far_add: () => new GatewayFault('STORE_UNAVAILABLE', 'no answer'),
  };
  export default definePlugin({
    address: 'throws',
    config: { safeParse: (data) => ({ success: true, data }) },
    apply(core) {
      core.hooks.authorize.tap('throws', ({ name }) => {
        if (name in THROWN) throw THROWN[name]();
      });
    },
  });`;

/** A folder in which packages find a copy of the core that is not ours, as built. */
const folder = temporaryFolderOfFile('two-copies');
const copy = join(folder, 'node_modules/@toolmgr/core');
beforeAll(() => {
  const packages = join(ROOT, 'node_modules');
  mkdirSync(join(folder, 'node_modules/@toolmgr'), { recursive: true });
  for (const name of readdirSync(packages)) {
    if (name !== '@toolmgr' && !name.startsWith('.'))
      symlinkSync(join(packages, name), join(folder, 'node_modules', name));
  }
  cpSync(join(ROOT, 'core/dist'), join(copy, 'dist'), { recursive: true });
  writeFileSync(
    join(copy, 'package.json'),
    '{ "name": "@toolmgr/core", "type": "module", "exports": "./dist/index.js" }',
  );
});

const serve = (use: string, url: string) => {
  const file = join(folder, 'vmcp.yaml');
  const backends = [{ name: 'far', url, transport: 'streamable-http' }];
  writeFileSync(file, stringify({ incomingAuth: { type: 'anonymous' }, backends, plugins: [{ use }] }));
  return startCli(['vmcp', 'serve', '-c', file, '--port', '0'], { env: { TOOLMGR_STATE_DIR: join(folder, 'state') } });
};

describe('a plugin with its own copy of the core', () => {
  proves(
    'ask.custom-plugin.own-core',
    'throws errors that mean the same here: the link to open, and the service that is away',
    async () => {
      writeFileSync(join(folder, 'throws.mjs'), PLUGIN);
      await using server = await recordingServer();
      await using running = serve('./throws.mjs', server.url);
      const [, url = ''] = await running.printed(/serves (http:\S+)/);
      await until(async () => (await cli(['tools', '--url', url])).out.includes('far_echo'));
      const said = async (...call: string[]) => {
        const { out, err } = await cli(['call', ...call, '--url', url]);
        return `${out}${err}`;
      };
      expect(await said('far_echo', 'message=a')).toMatch(/connect your account[\s\S]*accounts\.example\.com\/connect/);
      expect(await said('far_add', 'a=1', 'b=2')).toContain('a store of the gateway does not answer now');
    },
    LONG,
  );

  it('is refused when it was made for another version of the interface, with what to update', async () => {
    const text = (version: number) =>
      `export default { apiVersion: ${version}, address: 'x', config: { safeParse: (data) => ({ success: true, data }) }, apply() {} };`;
    for (const [version, update] of [
      [2, 'update toolmgr'],
      [0, 'update the plugin'],
    ] as const) {
      writeFileSync(join(folder, `v${version}.mjs`), text(version));
      await using refused = serve(`./v${version}.mjs`, 'http://127.0.0.1:9/mcp');
      const [line] = await refused.printed(/.*plugin interface.*/);
      expect(line).toContain(
        `v${version}.mjs was made for version ${version} of the plugin interface, and this toolmgr has version 1: ${update}`,
      );
    }
  });

  it('has classes whose objects are recognized by ours, and subclasses stay apart', async () => {
    const theirs = await import(/* @vite-ignore */ pathToFileURL(join(copy, 'dist/index.js')).href);
    expect(theirs.GatewayFault).not.toBe(GatewayFault);
    const fault = new theirs.GatewayFault('STORE_UNAVAILABLE', 'a');
    const link = new theirs.UserActionRequired('a', 'https://a.test');
    expect([fault, link].map((each) => each instanceof GatewayFault)).toEqual([true, true]);
    expect([fault, link].map((each) => each instanceof UserActionRequired)).toEqual([false, true]);
    const torn = (): unknown => theirs.RawObject.parse(Buffer.from('{"a":'));
    expect(torn).toThrow();
    try {
      torn();
    } catch (cause) {
      expect([cause instanceof RawJsonError, cause instanceof TooManyElements]).toEqual([true, false]);
    }
    for (const other of [undefined, null, 'a', {}, new Error('a')]) expect(other instanceof GatewayFault).toBe(false);
  });
});
