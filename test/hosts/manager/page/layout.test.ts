import { join } from 'node:path';
import { fakeServer } from '@toolmgr/core/testing';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser } from '../../../support/browser.ts';
import { openGatewayPage } from '../../../support/gateway-page.ts';
import { inBrowser } from '../../../support/in-browser.ts';
import { axeFindings, PICTURES, type StartedPage, startPage, VIEW_PLACES } from '../../../support/manager-page.ts';
import { layoutFindings, WIDTHS } from '../../../support/page-layout.ts';

const TEST_MS = 120_000;

/** Long texts as servers, registries and errors have them. */
const TEXTS: Readonly<Record<string, string>> = {
  default: 'engineering-platform-infrastructure',
  work: 'customer-success-and-professional-services-north-america',
  reason:
    'the server ended 5 times in 60 s; its last line: Error: Cannot find module /usr/local/lib/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js',
  package: 'npx://@modelcontextprotocol/server-everything-with-a-very-long-name@2026.11.21-beta.4',
  tool: 'search_repositories_by_organisation_and_language',
  title: 'Weather forecasts, radar pictures and historical observations for stations of every continent',
  tag: 'a-tag-of-an-author-who-likes-long-tags',
  label: 'sha256-4f3c2b1a0987654321fedcba4f3c2b1a0987654321fedcba4f3c2b1a09876543',
  host: 'europe-west3-docker-registry.internal.prod.services.example.company.com',
  variable: 'The endpoint of the deployment, e.g. https://europe-west3.internal.prod.services.example.company.com/v1',
  path: '.config/Code - Insiders/User/profiles/engineering/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
  entry: 'engineering-platform-infrastructure-filesystem-read-only',
  why: 'it was written by hand: {"command":"/opt/homebrew/Cellar/node/26.3.0/bin/npx","args":["-y","@modelcontextprotocol/server-filesystem"]}',
  skill: 'review-of-terraform-plans-for-production-accounts',
  reference:
    'ghcr.io/example-organisation/skills/review-of-terraform-plans@sha256:4f3c2b1a0987654321fedcba4f3c2b1a0987654321fedcba4f3c2b1a09876543',
  error:
    'https://europe-west3.internal.prod.services.example.company.com answered 503: upstream connect error or disconnect/reset before headers',
  log: 'x'.repeat(400),
};
const NAMES = [
  ['filesystem-of-the-engineering-platform-infrastructure-team-read-only', 'error'],
  ['mcp_server_for_the_customer_success_department_in_north_america', 'unauthenticated'],
  ['postgres', 'policy_stopped'],
] as const;

const PLACES: Readonly<Record<string, string>> = {
  ...VIEW_PLACES,
  overview: `workloads/${NAMES[0][0]}`,
  'no-workload': `workloads/${NAMES[1][0]}-that-was-removed`,
};

inBrowser('views with long names and errors', { timeout: TEST_MS }, () => {
  let started: StartedPage;

  beforeAll(async () => {
    started = await startPage(
      (place) => TEXTS[place] ?? place,
      (before) => {
        for (const [name, status] of NAMES) {
          before.workloads.set(name, { name, status, status_context: TEXTS.reason ?? '' });
          before.secrets.set(`${name}_PERSONAL_ACCESS_TOKEN`, 'x');
          before.skills.add(name);
        }
        before.clients.set('visual-studio-code-insiders-with-profile', true);
      },
    );
  }, TEST_MS);
  afterAll(() => started?.[Symbol.asyncDispose]());

  it.each(Object.entries(PLACES))(
    'nothing is cut off or broken into syllables in %s at three widths',
    async (name, place) => {
      const { page, open } = started.opened;
      await open(place);
      await page.waitForTimeout(200); // data of the view; a view without data is looked at too
      await expectLayout(page, name);
    },
  );

  it('nothing is cut off in dialogs with long texts', async () => {
    const { page, open } = started.opened;
    await open('clients');
    await page.getByRole('button', { name: 'Register cursor' }).click();
    await page.getByRole('dialog').getByText('cline_mcp_settings.json').waitFor();
    await expectLayout(page, 'register');
    await page.keyboard.press('Escape');
    await open('workloads');
    await page.getByRole('button', { name: 'Upgrade fetch' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Upgrade', exact: true }).waitFor();
    await expectLayout(page, 'upgrade');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: `Remove ${NAMES[1][0]}` }).click();
    await page.getByRole('dialog').waitFor();
    await expectLayout(page, 'remove');
    await page.keyboard.press('Escape');
  });

  it('of 1,000 workloads only those near the window are elements; each is found by scrolling and by the filter', async () => {
    const { page, open } = started.opened;
    for (let at = started.state.workloads.size; at < 1_000; at += 1) {
      const status = at % 7 === 0 ? 'error' : 'running';
      started.state.workloads.set(`server-${at}`, { name: `server-${at}`, status, status_context: '' });
    }
    await open('secrets');
    await open('workloads');
    await page.getByText('1000 of 1000').waitFor();
    await expectLayout(page, 'thousand', { isWhole: false });
    await page.setViewportSize({ width: 1280, height: 900 });
    const rows = page.locator('tbody th');
    expect(await rows.count()).toBeLessThan(150);
    await page.keyboard.press('End');
    await page.getByRole('link', { name: 'server-999', exact: true }).waitFor();
    await expect.poll(() => rows.count()).toBeLessThan(150);
    expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe('1001');
    expect(await page.getByRole('row').last().getAttribute('aria-rowindex')).toBe('1001');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('Filter').fill('server-77');
    await page.getByText('11 of 1000').waitFor();
    expect(await rows.count()).toBe(11);
  });

  it('a row with the focus stays while others are scrolled, so its question stays open', async () => {
    const { page } = started.opened;
    await page.getByLabel('Filter').fill('');
    await page.getByRole('button', { name: 'Remove fetch' }).click();
    await page.getByRole('dialog').waitFor();
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await page.getByRole('rowheader', { name: 'server-999', includeHidden: true }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.waitForFunction(`document.activeElement?.textContent === 'Remove fetch'`); // after the next frame
  });
});

inBrowser('views of an endpoint with long names', { timeout: TEST_MS }, () => {
  it('nothing is cut off or broken into syllables in playground, calls and endpoint', async () => {
    await using browser = await openBrowser();
    await using opened = await openGatewayPage(browser, {
      'engineering-platform-infrastructure': longServer(),
      mcp_server_for_the_customer_success_department: { url: 'http://127.0.0.1:9/mcp', transport: 'streamable-http' },
    });
    const { page, open, gateway } = opened;
    const client = await gateway.client();
    await client.callTool(TEXTS.tool ?? '', {});
    await client.callTool('fails', {});
    for (const place of [
      'endpoint',
      'playground',
      `playground?name=${TEXTS.tool}`,
      'playground?name=slow',
      'playground?name=fails',
      'calls',
    ]) {
      await open(place);
      await page
        .getByText(TEXTS.tool ?? '')
        .first()
        .waitFor();
      if (place.includes('slow')) {
        await page.getByRole('button', { name: 'Call' }).click();
        await page.getByText('3 of 10').waitFor();
      } else if (place.includes('fails')) {
        await page.getByRole('button', { name: 'Call' }).click();
        await page.getByRole('region', { name: 'Result' }).getByText('tool error').waitFor();
      } else if (place.includes('=')) {
        await page.getByLabel('Form of the value').selectOption(TEXTS.title ?? '');
        await page.getByLabel(/^Customer-success/).fill(TEXTS.label ?? '');
        await page.getByRole('button', { name: 'Call' }).click();
        await page.getByRole('region', { name: 'Text' }).waitFor();
      }
      await expectLayout(page, place.replace(/\W+(name=)?/, '-').slice(0, 24));
    }
    expect(opened.faults).toEqual([]);
  });
});

/** Looks at the open view at each width; makes pictures in both themes when `PAGE_PICTURES` is set. */
async function expectLayout(page: Page, name: string, { isWhole = true } = {}): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    if (process.env.PAGE_PICTURES) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: join(PICTURES, `long-${name}-${width}-${colorScheme}.png`), fullPage: isWhole });
      }
    }
    expect.soft(await layoutFindings(page), `${name} at ${width} px`).toEqual([]);
  }
}

const longServer = () =>
  fakeServer()
    .tool(TEXTS.tool ?? '', () => ({ content: [{ type: 'text', text: `${TEXTS.error} ${TEXTS.log}` }] }), {
      title: TEXTS.title ?? '',
      description: `${TEXTS.variable} ${TEXTS.error}`,
      inputSchema: {
        type: 'object',
        properties: {
          query_of_the_search: { type: 'string', enum: [TEXTS.reference ?? '', TEXTS.label ?? ''] },
          programming_language_of_the_repository: { type: 'array', items: { type: 'string' } },
          order_of_the_repositories_that_are_found: {
            oneOf: [
              {
                title: TEXTS.title ?? '',
                properties: { by: { const: 'relevance' }, [TEXTS.work ?? '']: { type: 'string' } },
              },
              { properties: { by: { const: TEXTS.tag ?? '' }, descending: { type: 'boolean' } } },
            ],
          },
          additionalConfigurationOfTheSearch: { type: 'object', additionalProperties: { type: 'string' } },
        },
      },
    })
    .tool('slow', async ({ progress, signal }) => {
      progress(3, 10, TEXTS.error);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { content: [] };
    })
    .tool('fails', () => ({ content: [{ type: 'text', text: TEXTS.error ?? '' }], isError: true }));
