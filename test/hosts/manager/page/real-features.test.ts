import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserMissing, openBrowser } from '../../../support/browser.ts';
import { type StartedManager, startManager } from '../../../support/manager.ts';
import { axeFindings, type OpenPage, openManagerPage } from '../../../support/manager-page.ts';
import { createSmall, LONG, removeAll } from '../workloads/small.ts';

describe.skipIf(browserMissing !== undefined)(
  'the page with the real features of the manager',
  { timeout: LONG },
  () => {
    let manager: StartedManager;
    let browser: Browser;
    let opened: OpenPage;

    beforeAll(async () => {
      manager = await startManager();
      await mkdir(join(manager.home, '.cursor'));
      await createSmall(manager, 'small', { env_vars: { LEVEL: 'debug' } });
      browser = await openBrowser();
      opened = await openManagerPage(manager, browser);
    }, LONG);
    afterAll(async () => {
      await browser?.close();
      if (manager === undefined) return;
      await removeAll(manager.state);
      await manager.stop();
    }, LONG);

    it('stops and starts a workload, and shows its states without a reload', async () => {
      const { page, open } = opened;
      await open('workloads');
      const row = page.getByRole('row', { name: /small/ });
      await row.getByText('running').waitFor();
      await row.getByRole('button', { name: 'Stop' }).click();
      await row.getByText('stopped').waitFor();
      await row.getByRole('button', { name: 'Start' }).click();
      await row.getByText('running').waitFor();
    });

    it('edits the configuration by the form that the schema of the API gives', async () => {
      const { page, open } = opened;
      await open('workloads/small?tab=edit');
      await page.getByLabel('Value').first().fill('info');
      await page.getByRole('button', { name: 'Save and restart' }).click();
      await page.getByText('small is updated').waitFor();
      const { body } = await manager.request('GET', '/api/v1beta/workloads/small');
      expect(body.env_vars).toEqual({ LEVEL: 'info' });
    });

    it('finds a server in the built-in registry and shows its form', async () => {
      const { page, open } = opened;
      await open('browse');
      await page.getByLabel('Search servers').fill('github');
      await page.getByRole('link', { name: 'GitHub', exact: true }).first().click();
      await page.getByRole('heading', { name: 'Run it' }).waitFor();
      await page.getByText('GITHUB_PERSONAL_ACCESS_TOKEN').first().waitFor();
      await page.getByText('Set it up first').waitFor();
    });

    it('sets up encrypted secrets with a password, and stores one', async () => {
      const { page, open } = opened;
      await open('secrets');
      await page.getByRole('button', { name: 'Set up a provider' }).click();
      await page.getByRole('dialog').getByLabel('Password', { exact: true }).fill('a long password of a test');
      await page.getByRole('button', { name: 'Set up', exact: true }).click();
      await page.getByRole('button', { name: 'Add a secret' }).click();
      await page.getByLabel('Name').fill('token');
      await page.getByLabel('Value').fill('s3cret');
      await page.getByRole('button', { name: 'Store', exact: true }).click();
      await page.getByRole('rowheader', { name: 'token' }).waitFor();
      expect((await manager.request('GET', '/api/v1beta/secrets/default/keys')).body.keys).toMatchObject([
        { key: 'token' },
      ]);
    });

    it('shows what is written into the file of an editor, and then writes it', async () => {
      const { page, open } = opened;
      await open('clients');
      await page.getByRole('button', { name: 'Register cursor' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('mcpServers').first().waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Register', exact: true }).click();
      await page.getByRole('button', { name: 'Unregister cursor' }).waitFor();
      const written = JSON.parse(await readFile(join(manager.home, '.cursor/mcp.json'), 'utf8'));
      expect(Object.keys(written.mcpServers)).toEqual(['small']);
    });

    it.each([
      'workloads',
      'workloads/small',
      'browse',
      'browse/github',
      'browse?custom=yes',
      'clients',
      'secrets',
      'skills',
      'pins',
    ])('axe finds nothing in %s', async (place) => {
      const { page, open } = opened;
      await open(place);
      await page.waitForTimeout(400);
      expect(await axeFindings(page)).toEqual([]);
    });

    it('removes a workload after a question, asks no other host and breaks no policy', async () => {
      const { page, open, report } = opened;
      await open('workloads');
      await page.getByRole('button', { name: 'Remove small' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await page.getByText('Nothing runs yet').waitFor();
      expect(report).toEqual({ faults: [], foreign: [] });
    });
  },
);
