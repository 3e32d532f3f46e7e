import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createGateway, GatewayFault } from '@toolmgr/core';
import { loadVmcpFile } from 'toolmgr';
import { describe, expect, it, onTestFinished } from 'vitest';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const BACKENDS = 'backends:\n  - { name: docs, transport: streamable-http, url: "http://127.0.0.1:9/mcp" }\n';
const CALLERS = 'incomingAuth: { type: anonymous }\n';
/** Says that it was loaded, and refuses every caller. */
const PLUGIN = `
globalThis.loadedOwn = (globalThis.loadedOwn ?? 0) + 1;
const schema = { safeParse: (data) => ({ success: true, data }), parse: (data) => data };
export default {
  address: 'closed',
  config: schema,
  apply: (core) => core.hooks.authenticate.tap('closed', () => ({ refused: true, status: 403, reason: 'closed' })),
};`;

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder('load-vmcp');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

async function messageOf(loading: Promise<unknown>): Promise<string> {
  const cause = await loading.then(
    () => undefined,
    (fault: unknown) => fault,
  );
  expect(cause).toBeInstanceOf(GatewayFault);
  expect(cause).toMatchObject({ code: 'PLAN_INVALID' });
  return (cause as GatewayFault).message;
}

describe('loadVmcpFile', () => {
  proves('ask.embedding.vmcp-file', 'gives createGateway the plan of a file, its plugins and its folder', async () => {
    const folder = folderWith({ 'team.yaml': `${BACKENDS}timeoutz: 1\n`, 'good.yaml': BACKENDS });
    const { plan, options, warnings } = await loadVmcpFile(join(folder, 'good.yaml'));
    expect(plan).toMatchObject({ name: 'good' });
    expect(options.baseDir).toBe(folder);
    expect(warnings).toEqual([]);
    const gateway = await createGateway(plan, options);
    onTestFinished(() => gateway.stop());
    expect(gateway.backends().map(({ backend }) => backend.name)).toEqual(['docs']);
    expect(await messageOf(loadVmcpFile(join(folder, 'team.yaml')))).toContain('team.yaml:3: timeoutz: unknown key');
    expect(await messageOf(loadVmcpFile(join(folder, 'gone.yaml')))).toContain('gone.yaml: there is no such file');
  });

  proves('ask.embedding.vmcp-file-plugins', 'runs the plugins of a file only when it is asked to', async () => {
    const text = `${BACKENDS}plugins:\n  - use: ./closed.mjs\n`;
    const file = join(folderWith({ 'closed.mjs': PLUGIN, 'vmcp.yaml': text }), 'vmcp.yaml');
    const loaded = () => Reflect.get(globalThis, 'loadedOwn');
    expect(await messageOf(loadVmcpFile(file))).toContain('./closed.mjs would run code');
    expect(loaded()).toBeUndefined();
    const { plan, options } = await loadVmcpFile(file, { loadPlugins: true });
    expect(loaded()).toBe(1);
    const gateway = await createGateway(plan, options);
    onTestFinished(() => gateway.stop());
    const server = createServer((request, response) => gateway.handle(request, response)).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((listening) => server.once('listening', listening));
    const { port } = server.address() as { port: number };
    expect((await fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST' })).status).toBe(403);
  });

  it('refuses a file without incomingAuth for other addresses than loopback', async () => {
    const folder = folderWith({ 'open.yaml': BACKENDS, 'chosen.yaml': `${BACKENDS}${CALLERS}` });
    const open = join(folder, 'open.yaml');
    expect((await loadVmcpFile(open)).plan.endpoint).toBeUndefined(); // loopback is the default
    expect(await messageOf(loadVmcpFile(open, { loopback: false }))).toContain('incomingAuth: missing');
    const { plan } = await loadVmcpFile(join(folder, 'chosen.yaml'), { loopback: false });
    expect(plan.endpoint).toMatchObject({ loopback: false });
  });

  it('says which sections of the file have no effect in an app', async () => {
    const text = `${BACKENDS}statusPages: { port: 0 }\noperational: { logLevel: debug }\n`;
    const { warnings } = await loadVmcpFile(join(folderWith({ 'vmcp.yaml': text }), 'vmcp.yaml'));
    expect(warnings).toEqual([
      expect.stringContaining('vmcp.yaml: statusPages: has no effect'),
      expect.stringContaining('vmcp.yaml: operational.logLevel: has no effect'),
    ]);
  });
});
