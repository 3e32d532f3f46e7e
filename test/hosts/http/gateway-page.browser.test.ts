import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fakeServer, text } from '@toolmgr/core/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserMissing, openBrowser } from '../../support/browser.ts';
import { type GatewayPage, openGatewayPage } from '../../support/gateway-page.ts';

const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const LONG = 180_000;

const released = Promise.withResolvers<void>();

/** Values that have several forms. */
const UNIONS = {
  type: 'object',
  properties: {
    shape: {
      oneOf: [
        {
          title: 'Circle',
          type: 'object',
          properties: { kind: { const: 'circle' }, radius: { type: 'number' } },
          required: ['kind', 'radius'],
        },
        {
          type: 'object',
          properties: { kind: { const: 'square' }, side: { type: 'number' } },
          required: ['kind', 'side'],
        },
      ],
    },
    width: { anyOf: [{ type: 'number' }, { const: 'auto' }, { type: 'null' }] },
    owner: { type: ['string', 'integer', 'null'] },
    colour: {
      oneOf: [
        { const: 'r', title: 'Red' },
        { const: 'g', title: 'Green' },
      ],
    },
    pin: { anyOf: [{ type: 'string', format: 'password' }, { type: 'null' }] },
    grid: {
      type: 'object',
      properties: { step: { type: 'number' } },
      oneOf: [{ properties: { dots: { type: 'boolean' } } }, { properties: { lines: { type: 'integer' } } }],
    },
  },
  required: ['shape'],
};

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
    .tool('slow', async ({ progress }) => {
      progress(3, 10, 'reading files');
      await released.promise;
      return text('done at last');
    })
    .tool('paint', ({ arguments: given }) => text(JSON.stringify(given)), { inputSchema: UNIONS })
    .tool('tree', ({ arguments: given }) => text(JSON.stringify(given)), {
      inputSchema: { type: 'object', properties: { label: { type: 'string' }, not: { $ref: '#' } } },
    })
    .tool('confirms', ({ params: { requestState } }) => {
      if (requestState === 'second') return text('confirmed twice');
      return {
        resultType: 'input_required',
        inputRequests: {
          confirm: {
            method: 'elicitation/create',
            params: {
              message: requestState === undefined ? 'Sure?' : 'Really?',
              requestedSchema: { type: 'object', properties: {} },
            },
          },
        },
        requestState: requestState === undefined ? 'first' : 'second',
      };
    })
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
      await page.getByRole('region', { name: 'Result' }).getByText('tool error').waitFor();
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
    'asks again when the server asks again under the same name',
    async () => {
      await open('playground?name=confirms');
      await page.getByRole('button', { name: 'Call' }).click();
      for (const question of ['Sure?', 'Really?']) {
        await page.getByText(question).waitFor();
        await page.getByRole('button', { name: 'Answer' }).click();
      }
      await page.getByText('confirmed twice', { exact: true }).waitFor();
    },
    LONG,
  );

  test(
    'shows how far a call is and cancels it, and takes the answer of one that is not cancelled',
    async () => {
      await open('playground?name=slow');
      await page.getByRole('button', { name: 'Call' }).click();
      await page.getByRole('region', { name: 'Progress' }).getByText('3 of 10 reading files').waitFor();
      expect(await page.getByRole('progressbar').evaluate((bar) => (bar as unknown as { value: number }).value)).toBe(
        3,
      );
      expect(await axe()).toEqual([]);
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('row', { name: /slow/ }).getByText('cancelled').waitFor();
      await page.getByRole('button', { name: 'Call' }).click();
      await page.getByRole('region', { name: 'Progress' }).getByText('3 of 10').waitFor();
      released.resolve();
      await page.getByText('done at last', { exact: true }).waitFor();
    },
    LONG,
  );

  test(
    'offers the forms of a union as choices, and sends the value of the chosen one',
    async () => {
      await open('playground?name=paint');
      const shape = page.getByRole('group', { name: /^Shape/ });
      await shape.getByLabel('Form of the value').selectOption('Circle');
      await shape.getByLabel('Radius').fill('1');
      await shape.getByLabel('Form of the value').selectOption('square');
      await shape.getByLabel('Side').fill('2');
      await page.getByRole('group', { name: 'Width' }).getByLabel('Form of the value').selectOption('auto');
      await page.getByRole('group', { name: 'Owner' }).getByLabel('Form of the value').selectOption('Number');
      await page.getByRole('group', { name: 'Owner' }).getByRole('spinbutton').fill('7');
      await page.getByLabel('Colour').selectOption('Green');
      const grid = page.getByRole('group', { name: 'Grid' });
      await grid.getByLabel('Form of the value').selectOption('step, lines');
      await grid.getByLabel('Lines').fill('3');
      await grid.getByLabel('Step').fill('0.5');
      expect(await axe()).toEqual([]);
      await page.getByRole('button', { name: 'Call' }).click();
      const sent = {
        shape: { kind: 'square', side: 2 },
        width: 'auto',
        owner: 7,
        colour: 'g',
        grid: { lines: 3, step: 0.5 },
      };
      const answer = page.getByRole('region', { name: 'Text', exact: true });
      await answer.waitFor();
      expect(JSON.parse((await answer.textContent()) ?? '')).toEqual(sent);
      // a schema that contains itself is a form too
      await open('playground?name=tree');
      await page.getByLabel('Label').nth(1).fill('inner');
      await page.getByRole('button', { name: 'Call' }).click();
      const told = page.getByRole('region', { name: 'Text', exact: true });
      await told.getByText('{"not":{"label":"inner"}}').waitFor();
      await page.getByRole('button', { name: 'Fill in Not' }).click();
      await page.getByLabel('Label').nth(3).fill('innermost');
      await page.getByRole('button', { name: 'Call' }).click();
      await told.getByText('{"not":{"label":"inner","not":{"not":{"label":"innermost"}}}}').waitFor();
    },
    LONG,
  );

  test(
    'keeps a history in the page: a link opens a call with its values and its answer; a reload forgets it',
    async () => {
      await open('playground?name=add');
      await page.getByRole('spinbutton').first().fill('5');
      await page.getByRole('button', { name: 'Call' }).click();
      await page.getByText('7', { exact: true }).waitFor();
      await open('playground?name=fails');
      const past = page.getByRole('table', { name: 'Calls that were tried, newest first' });
      expect(await past.getByRole('row').nth(1).textContent()).toContain('{"b":2,"a":5}');
      await past.getByRole('link', { name: 'add' }).first().click();
      await page.getByText('7', { exact: true }).waitFor();
      expect(await page.getByRole('spinbutton').first().inputValue()).toBe('5');
      expect(await axe()).toEqual([]);
      await page.reload();
      await page.getByRole('spinbutton').first().waitFor();
      expect(await past.count()).toBe(0);
    },
    LONG,
  );

  test(
    'shows no secret value in the history, and puts none of its values into a store of the browser',
    async () => {
      await open('playground?name=paint');
      await page.getByLabel('Form of the value').first().selectOption('Circle');
      await page.getByLabel('Radius').fill('9');
      await page.getByLabel('Pin').fill('4711');
      await page.getByRole('button', { name: 'Call' }).click();
      const row = page.getByRole('row', { name: /paint/ });
      await row.getByText('{"shape":{"kind":"circle","radius":9},"pin":"••••"}').waitFor();
      expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toMatch(/4711|circle/);
      await row.getByRole('link', { name: 'paint' }).click();
      expect(await page.getByLabel('Pin').inputValue()).toBe('4711');
      await page.getByRole('button', { name: 'Clear' }).click();
      await expect.poll(() => row.count()).toBe(0);
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
