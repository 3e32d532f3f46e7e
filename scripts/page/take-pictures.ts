import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { startManager } from '../../test/support/manager.ts';
import { openManagerPage } from '../../test/support/manager-page.ts';
import { pageOperations } from '../../test/support/page-operations.ts';

const TEXTS: Readonly<Record<string, string>> = {
  package: 'ghcr.io/example/fetch:1.0.0',
  reason: 'the image could not be pulled: the registry did not answer',
  title: 'Weather',
  description: 'Forecasts and observations for any place, from public weather services',
  overview: 'Ask for the weather of a place by its name or its coordinates. No data of yours is kept.',
  tool: 'current',
  tag: 'weather',
  host: 'tiles.weather.example',
  variable: 'System of units of all results',
  secret: 'Key of your account at weather.example',
  note: 'The registry was loaded two minutes ago',
};

/** Takes the pictures of the guide to the workload manager, with an invented registry. */
export async function takeManagerPictures(browser: Browser, folder: string): Promise<void> {
  const { operations } = pageOperations({ text: (place) => TEXTS[place] ?? place });
  await using manager = await startManager({ operations });
  for (const [name, place, colorScheme] of PICTURES) {
    const { page, open } = await openManagerPage(manager, browser, {
      colorScheme,
      viewport: { width: 1100, height: 620 },
    });
    await open(place);
    await page.getByRole('button').last().waitFor();
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(folder, `${name}.png`) });
    await page.context().close();
  }
}

const PICTURES = [
  ['workloads', 'workloads', 'light'],
  ['run-a-server', 'browse/io.example%2Fweather', 'light'],
  ['workloads-dark', 'workloads', 'dark'],
] as const;
