import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Backend, type PlanInput, readPlan } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import staticBackends from '../../../plugins/backend-sources/static/index.ts';
import { bootPlugin } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';
import { readText } from '../../support/vmcp-text.ts';

const folder = join(import.meta.dirname, '..', '..', 'golden', 'plan');
const read = (file: string) => readText(readFileSync(join(folder, file), 'utf8'), join(folder, file));
const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));

describe('the plan of a vmcp file', () => {
  it.each(files)('%s matches its golden file', async (file) => {
    const plan = (await read(file)).plan;
    const golden = join(folder, file.replace(/\.yaml$/, '.json'));
    if (process.env.UPDATE_GOLDEN) writeFileSync(golden, `${JSON.stringify(plan, undefined, 2)}\n`);
    expect(plan).toEqual(JSON.parse(readFileSync(golden, 'utf8')));
  });

  it.each(files)('%s is valid for the core', async (file) => {
    const found = await read(file);
    expect(readPlan(found.plan).name).toBe(found.config.name);
  });

  proves(
    'vmcp.backends.metadata-group',
    'has the group beside the backends, so that their metadata always has it',
    async () => {
      const plan = JSON.parse(readFileSync(join(folder, 'static.json'), 'utf8')) as PlanInput;
      const source = plan.plugins.find(({ use }) => use === 'backend-sources/static');
      const core = await bootPlugin(staticBackends, {
        ...(source?.with as { group: string }),
        backends: [{ name: 'a', url: 'http://a/mcp', transport: 'sse', metadata: { group: 'mine', team: 'b' } }],
      });
      const snapshots: (readonly Backend[])[] = [];
      const stop = new AbortController();
      const watching = core.slots.backendSources
        .get('backend-sources/static')
        .watch((s) => snapshots.push(s), stop.signal);
      stop.abort();
      await watching;
      expect(snapshots[0]?.[0]?.metadata).toEqual({ group: 'dev', team: 'b' });
    },
  );

  it('has no golden plan without its file', () => {
    const plans = readdirSync(folder).filter((file) => file.endsWith('.json'));
    expect(plans.map((file) => file.replace(/\.json$/, '.yaml')).sort()).toEqual([...files].sort());
  });
});
