import { createRecord } from '@toolmgr/plugins/kit/workloads';
import { expect, it } from 'vitest';
import { cli } from '../../../support/cli.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { workloadConfigOf } from '../../../support/workload-config.ts';

it('upgrade apply says that a workload cannot be upgraded, and ends with exit code 1', async () => {
  const state = temporaryFolder('upgrade');
  await createRecord(state, workloadConfigOf('by-hand'));
  const env = { TOOLMGR_STATE_DIR: state, XDG_CONFIG_HOME: state };
  const ran = await cli(['upgrade', 'apply', 'by-hand'], { env });
  expect(ran).toMatchObject({ code: 1, out: '', err: expect.stringContaining('by-hand: not-registry-sourced') });
  const json = await cli(['upgrade', 'apply', 'by-hand', '--json'], { env });
  expect(json.code).toBe(1);
  expect(JSON.parse(json.out)).toMatchObject({ status: 'not-registry-sourced' });
});
