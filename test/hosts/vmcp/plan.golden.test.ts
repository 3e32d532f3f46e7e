import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPlan } from '../../../core/assembly/plan.ts';
import { planFromConfig } from '../../../hosts/vmcp/plan.ts';
import { readConfig } from '../../../hosts/vmcp/read-config.ts';
import { catalogue } from '../../../plugins/index.ts';

const folder = join(import.meta.dirname, '..', '..', 'golden', 'plan');
const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));

describe('the plan of a vmcp file', () => {
  it.each(files)('%s is as it was agreed', async (file) => {
    const { config } = await readConfig(readFileSync(join(folder, file), 'utf8'), file, catalogue);
    const plan = planFromConfig(config);
    const golden = join(folder, file.replace(/\.yaml$/, '.json'));
    if (process.env.UPDATE_GOLDEN) writeFileSync(golden, `${JSON.stringify(plan, undefined, 2)}\n`);
    expect(plan).toEqual(JSON.parse(readFileSync(golden, 'utf8')));
  });

  it.each(files)('%s is a plan that the core reads', async (file) => {
    const { config } = await readConfig(readFileSync(join(folder, file), 'utf8'), file, catalogue);
    expect(readPlan(planFromConfig(config)).name).toBe(config.name);
  });

  it('has no leftovers: every golden plan has its file', () => {
    const plans = readdirSync(folder).filter((file) => file.endsWith('.json'));
    expect(plans.map((file) => file.replace(/\.json$/, '.yaml')).sort()).toEqual([...files].sort());
  });
});
