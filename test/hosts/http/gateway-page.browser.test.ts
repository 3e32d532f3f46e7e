import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fakeServer, text } from '../../../core/testing/index.ts';
import { browserMissing, openBrowser } from '../../support/browser.ts';
import { type GatewayPage, openGatewayPage } from '../../support/gateway-page.ts';

const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const LONG = 180_000;

const server = () =>
  fakeServer()
    .tool(
      'add',
      ({ arguments: { a, b } }) => ({
        content: [{ type: 'text', text: String(Number(a) + Number(b)) }],
        structuredContent: { sum: Number(a) + Number(b) },
      }),
      {
        title: 'Add two numbers',
        description: HOSTILE,
        inputSchema: {
          type: 'object',
          properties: { a: { type: 'number' }, b: { type: 'number', default: 2 } },
          required: ['a', 'b'],
        },
        annotations: { readOnlyHint: true },
      },
    )
    .tool('picture', () => ({
      content: [
        { type: 'image', data: PIXEL, mimeType: 'image/png' },
        { type: 'text', text: HOSTILE },
      ],
    }))
    .tool('fails', () => ({ ...text('no such file'), isError: true }))
    .tool(HOSTILE.slice(0, 60), 'hostile')
    .prompt('greet', () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'Hello Ada' } }] }))
    .resource('memo://one', () => ({ contents: [{ uri: 'memo://one', text: 'a memo' }] }));

/** Asks during the call; the gateway asks the page before it calls again. */
const asking = () =>
  fakeServer(['2025-11-25']).tool('asks', async ({ ask }) => {
    const answer = await ask('elicitation/create', {
      message: 'Which colour?',
      requestedSchema: { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'] },
    });
    return text(`You said ${JSON.stringify(answer)}`);
  });

describe.skipIf(browserMissing)(`the page of one endpoint in a browser ${browserMissing ?? ''}`, () => {
  let browser: Browser;
  let opened: GatewayPage;
  let page: Page;
  let open: GatewayPage['open'];

  beforeAll(async () => {
    browser = await openBrowser();
    opened = await openGatewayPage(browser, { one: server(), two: asking() });
    ({ page, open } = opened);
  }, LONG);
  afterAll(async () => {
    await opened?.[Symbol.asyncDispose]();
    await browser?.close();
  });

  const axe = async (): Promise<unknown> => {
    await page.evaluate(await readFile(AXE, 'utf8')); // not a script of the page, so its policy does not apply
    return page.evaluate(async () => {
      const run = (
        globalThis as unknown as {
          axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
        }
      ).axe;
      return (await run.run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
    });
  };

  test(
    'shows what clients see and why',
    async () => {
      await open('endpoint');
      await page.getByRole('heading', { name: 'What clients see' }).waitFor();
      expect(await page.getByRole('rowheader').allTextContents()).toEqual(
        expect.arrayContaining([expect.stringContaining('add')]),
      );
      for (const words of ['fixed headers', 'none'])
        expect(await page.getByRole('cell', { name: words, exact: true }).count()).toBe(1);
      expect(await page.getByRole('navigation', { name: 'Views' }).textContent()).toBe('EndpointPlaygroundCalls');
      expect(await axe()).toEqual([]);
    },
    LONG,
  );

  test(
    'calls a tool with a form made from its schema, and shows structured content',
    async () => {
      await open('playground');
      await page.getByRole('link', { name: /^add/ }).click();
      await page.getByRole('spinbutton').first().fill('40');
      await page.getByRole('button', { name: 'Call' }).click();
      await page.getByRole('region', { name: 'Structured content' }).waitFor();
      expect(await page.getByRole('region', { name: 'Structured content' }).textContent()).toBe('{\n  "sum": 42\n}');
      await page.getByText('The same request as JSON and as a command').click();
      expect(await page.getByRole('region', { name: 'Command' }).textContent()).toBe(
        `toolmgr call add --args '{"b":2,"a":40}' --url ${opened.url}/mcp`,
      );
      if (process.env.PAGE_PICTURES) await page.screenshot({ path: `${process.env.PAGE_PICTURES}/playground.png` });
      expect(await axe()).toEqual([]);
    },
    LONG,
  );

  test(
    'shows images, errors of tools, prompts and resources',
    async () => {
      await open('playground?name=picture');
      await page.getByRole('button', { name: 'Call' }).click();
      const image = page.getByRole('img', { name: 'Result of the call' });
      await image.waitFor();
      expect(await image.evaluate((element) => (element as unknown as { naturalWidth: number }).naturalWidth)).toBe(1);
      await open('playground?name=fails');
      await page.getByRole('button', { name: 'Call' }).click();
      await page.getByText('tool error').waitFor();
      await open('playground?kind=prompts&name=greet');
      await page.getByRole('button', { name: 'Get' }).click();
      await page.getByText('Hello Ada', { exact: true }).waitFor();
      await open('playground?kind=resources&name=memo%3A%2F%2Fone');
      await page.getByRole('button', { name: 'Read' }).click();
      await page.getByText('a memo', { exact: true }).waitFor();
    },
    LONG,
  );

  test(
    'asks the person what the server asks for',
    async () => {
      await open('playground?name=asks');
      await page.getByRole('button', { name: 'Call' }).click();
      await page.getByText('Which colour?').waitFor();
      await page.getByLabel('Colour').fill('green');
      await page.getByRole('button', { name: 'Answer' }).click();
      await page
        .getByText(/You said .*green/)
        .first()
        .waitFor();
    },
    LONG,
  );

  test(
    'shows the calls as they come, with their facts',
    async () => {
      await open('calls');
      await page.getByRole('button', { name: 'picture' }).waitFor();
      const client = await opened.gateway.client();
      await client.callTool('add', { a: 1, b: 1 });
      const newest = page.getByRole('row').nth(1);
      await expect.poll(() => newest.textContent()).toContain('add');
      expect(await newest.textContent()).toContain('test-client 1');
      expect(await axe()).toEqual([]);
      await newest.getByRole('button', { name: 'add' }).click();
      expect(await page.getByRole('dialog').textContent()).toContain('tools/call');
    },
    LONG,
  );

  test('runs no script of a server, sends nothing to other hosts, and reports no fault', async () => {
    expect(await page.evaluate(() => (globalThis as { hacked?: number }).hacked)).toBeUndefined();
    expect(opened.foreign).toEqual([]);
    expect(opened.faults).toEqual([]);
  });
});
