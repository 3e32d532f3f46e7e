// Takes the pictures of the guide: node --conditions=development scripts/page/take-pictures.ts
import { join } from 'node:path';
import { openBrowser } from '../../test/support/browser.ts';
import { startManager } from '../../test/support/manager.ts';
import { openManagerPage } from '../../test/support/manager-page.ts';
import { pageOperations } from '../../test/support/page-operations.ts';

const FOLDER = join(import.meta.dirname, '../../docs/pictures');

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

const { operations } = pageOperations({ text: (place) => TEXTS[place] ?? place });
await using manager = await startManager({ operations });
await using browser = await openBrowser();

for (const [name, place, colorScheme] of [
  ['workloads', 'workloads', 'light'],
  ['run-a-server', 'browse/io.example%2Fweather', 'light'],
  ['workloads-dark', 'workloads', 'dark'],
] as const) {
  const { page, open } = await openManagerPage(manager, browser, {
    colorScheme,
    viewport: { width: 1100, height: 620 },
  });
  await open(place);
  await page.getByRole('button').last().waitFor();
  await page.waitForTimeout(300);
  await page.screenshot({ path: join(FOLDER, `${name}.png`) });
  await page.context().close();
}
