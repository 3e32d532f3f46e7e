import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalRegistry, startLocalRegistry } from '../support/local-registry.ts';
import { rig } from '../support/rig.ts';

const found = rig('packaging');

describe.skipIf('missing' in found)('packages from a registry', () => {
  let registry: LocalRegistry;
  const scratch = mkdtempSync(join(tmpdir(), 'toolmgr-install-'));

  beforeAll(async () => {
    if ('missing' in found) return;
    registry = await startLocalRegistry(found.folder);
  }, 240_000);

  afterAll(async () => {
    await registry?.[Symbol.asyncDispose]();
    rmSync(scratch, { recursive: true, force: true });
  });

  it('the core is imported by plain Node', async () => {
    await registry.install(scratch, ['@toolmgr/core']);
    const program = "const core = await import('@toolmgr/core'); console.log(typeof core.createGateway);";
    const ran = await registry.run(process.execPath, ['--input-type=module', '--eval', program], { cwd: scratch });
    expect(ran).toMatchObject({ code: 0, out: 'function\n' });
  }, 120_000);
});
