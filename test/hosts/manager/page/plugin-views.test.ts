import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRecord } from '@toolmgr/plugins/kit/workloads';
import { expect, it } from 'vitest';
import { planFrom } from '../../../../hosts/manager/manager-config.ts';
import { browserMissing, openBrowser } from '../../../support/browser.ts';
import { startManager } from '../../../support/manager.ts';
import { openManagerPage } from '../../../support/manager-page.ts';
import { workloadConfigOf } from '../../../support/workload-config.ts';

const LONG = 120_000;
const example = async (name: string) => {
  const baseDir = join(import.meta.dirname, '../../../../examples', name);
  const path = join(baseDir, 'manager.yaml');
  const plan = planFrom(await readFile(path, 'utf8'), path).map((entry) =>
    entry.use === 'workloads' ? { ...entry, with: { supervise: false } } : entry,
  );
  return { plan, baseDir };
};

it.skipIf(browserMissing !== undefined)(
  'the page shows the view of a plugin in its place, within the policy of the page',
  async () => {
    await using manager = await startManager(await example('manager-plugin'));
    await createRecord(manager.state, workloadConfigOf('fetch'));
    await using browser = await openBrowser();
    const { page, open, report } = await openManagerPage(manager, browser);
    const links = await page.getByRole('navigation', { name: 'Views' }).getByRole('link').allTextContents();
    expect(links.slice(0, 3)).toEqual(['Workloads', 'Sources', 'Browse']);
    await open('sources');
    await page.getByText('fetch: node').waitFor();
    expect(await page.title()).toBe('Sources · toolmgr');
    await open('workloads');
    await page.getByRole('row', { name: /fetch/ }).waitFor();
    expect(report).toEqual({ faults: [], foreign: [] });
  },
  LONG,
);

it.skipIf(browserMissing !== undefined)(
  'the page browses the registry that a plugin put in the place of that of toolmgr',
  async () => {
    await using manager = await startManager(await example('manager-registry'));
    await using browser = await openBrowser();
    const { page, open, report } = await openManagerPage(manager, browser);
    await open('browse');
    await page.getByText('reads pages of the web').waitFor();
    expect(report).toEqual({ faults: [], foreign: [] });
  },
  LONG,
);
