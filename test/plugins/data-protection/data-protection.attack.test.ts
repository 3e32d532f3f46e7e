import type { JsonObject } from '@toolmgr/core';
import { fakeServer, text } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { DETECTORS } from '../../../plugins/data-protection/detectors.ts';
import { findIn } from '../../../plugins/data-protection/find.ts';
import { CARD, MAIL, protectedGateway, type Rule, TOKEN } from '../../support/protected-gateway.ts';
import { proves } from '../../support/proves.ts';

const ERAS = ['2025-11-25', '2026-07-28'] as const;
const all = ['secret', 'personal'];
const mask: Rule[] = [
  { direction: 'arguments', detectors: all, action: 'mask' },
  { direction: 'results', detectors: all, action: 'mask' },
];
const inText = (subject: string) => findIn(subject, undefined, DETECTORS).map(({ detector }) => detector.name);

describe('a call that is not made directly', () => {
  const composite = {
    use: 'composite/engine',
    with: {
      compositeTools: [
        {
          name: 'settle',
          description: 'Settles',
          parameters: { type: 'object', properties: { to: { type: 'string' } } },
          steps: [{ id: 'one', tool: 'pay', arguments: { to: '{{.params.to}}' } }],
        },
      ],
    },
  };
  const scripts = [
    { use: 'code-mode/quickjs' },
    { use: 'code-mode/execute-script', with: { scriptTimeout: '30s', toolCallTimeout: '20s' } },
  ];
  const script = (name: string) => ({ script: `return await callTool("${name}", { to: "${MAIL}" });` });
  /** How it is called, with which arguments, and what the gateway has for it. */
  const ways = [
    ['pay', { to: MAIL }, []],
    ['settle', { to: MAIL }, [composite]],
    [
      'call_tool',
      { tool_name: 'pay', parameters: { to: MAIL } },
      [{ use: 'optimizer/search' }, { use: 'optimizer/tools' }],
    ],
    ['execute_tool_script', script('pay'), scripts],
    ['execute_tool_script', script('far.pay'), scripts],
  ] as const;
  const server = fakeServer().tool('pay', ({ arguments: given }) => text(`${String(given.to)} paid ${CARD}`));
  const reported: Rule = { direction: 'arguments', tools: ['pay'], detectors: ['mail-address'], action: 'report' };

  for (const [name, given, plugins] of ways) {
    const way = `${name} ${JSON.stringify(given)}`;
    proves('ask.protection.all-ways', `is protected by the rules of the tool that is called: ${way}`, async () => {
      for (const [rules, sent] of [
        [mask, '[mail-address]'],
        [[reported, ...mask], MAIL],
        [[{ ...reported, action: 'block' as const }, ...mask], undefined],
      ] as const) {
        await using kit = await protectedGateway({ far: server }, { rules: [...rules] }, plugins);
        const client = await kit.client({ era: '2025-11-25' });
        server.received.length = 0;
        const reply = await client.request('tools/call', { name, arguments: given });
        const calls = server.received.filter(({ method }) => method === 'tools/call');
        if (sent === undefined) {
          expect(reply.text).toContain('protected data was found (mail-address)');
          expect(calls).toEqual([]);
        } else {
          expect(reply.text).toContain('[mail-address] paid [card-number]');
          expect(calls.map(({ params }) => params.arguments)).toEqual([{ to: sent }]);
        }
      }
    });
  }
});

describe('what reaches clients beside the result', () => {
  it('progress and logs of a call are masked; those that a rule blocks are left out', async () => {
    const server = fakeServer().tool('work', ({ progress, log }) => {
      progress(1, 2, `read ${MAIL}`);
      log('info', { note: `token ${TOKEN}` });
      progress(2, 2, 'done');
      return text('worked');
    });
    const rules: Rule[] = [
      { direction: 'results', detectors: ['secret'], action: 'block' },
      { direction: 'results', detectors: ['personal'], action: 'mask' },
    ];
    await using kit = await protectedGateway({ far: server }, { rules });
    const client = await kit.client();
    const _meta = { progressToken: MAIL, 'io.modelcontextprotocol/logLevel': 'debug' };
    const { told, result } = await client.request('tools/call', { name: 'work', arguments: {}, _meta });
    expect(result).toMatchObject({ content: [{ text: 'worked' }] });
    const progress = told.map(({ params }) => params as JsonObject).filter(({ message }) => message !== undefined);
    expect(progress).toMatchObject([
      { progressToken: MAIL, message: 'read [mail-address]' },
      { progressToken: MAIL, message: 'done' },
    ]);
    expect(JSON.stringify(told)).not.toContain(TOKEN);
  });

  it('questions of a backend are masked like results, and answers like arguments', async () => {
    for (const backendEra of ERAS) {
      for (const era of ERAS) {
        const server = fakeServer([backendEra]);
        if (backendEra === '2025-11-25') {
          server.tool('asks', async ({ ask }) => {
            const answer = await ask('elicitation/create', {
              mode: 'form',
              message: `who is ${MAIL}?`,
              requestedSchema: { type: 'object', properties: {} },
            });
            return text(JSON.stringify(answer));
          });
        } else {
          server.tool('asks', ({ params }) =>
            params.inputResponses === undefined
              ? {
                  resultType: 'input_required',
                  requestState: `state of ${MAIL}`,
                  inputRequests: {
                    q: {
                      method: 'elicitation/create',
                      params: {
                        mode: 'form',
                        message: `who is ${MAIL}?`,
                        requestedSchema: { type: 'object', properties: {} },
                      },
                    },
                  },
                }
              : text(JSON.stringify([params.inputResponses, params.requestState])),
          );
        }
        await using kit = await protectedGateway(
          { far: server },
          { rules: [mask[0] as Rule, { ...(mask[1] as Rule), detectors: ['mail-address'] }] },
        );
        const asked: string[] = [];
        const client = await kit.client({
          era,
          capabilities: { elicitation: { form: {} } },
          answer: (_method, params) => {
            asked.push(String(params.message));
            return { action: 'accept', content: { card: CARD } };
          },
        });
        const reply = JSON.stringify(await client.callTool('asks'));
        expect(asked, `${backendEra} ${era}`).toEqual(['who is [mail-address]?']);
        expect(reply, `${backendEra} ${era}`).toContain('[card-number]');
        expect(reply).not.toContain(CARD);
      }
    }
  });
});

describe('text that is too long', () => {
  const long = `${MAIL} ${'x'.repeat(2_000)}`;

  proves('ask.protection.bound', 'is blocked in both directions, in one string or in many', async () => {
    const server = fakeServer()
      .tool('save')
      .tool('look', () => text(long))
      .tool('list', () => ({ content: Array.from({ length: 100 }, () => ({ type: 'text', text: 'y'.repeat(20) })) }))
      .tool('picture', () => ({ content: [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(4_000) }] }));
    await using kit = await protectedGateway({ far: server }, { rules: mask, maxTextBytes: 1_024 });
    const client = await kit.client();
    const told = async (name: string, given: JsonObject = {}) =>
      (await client.request('tools/call', { name, arguments: given })).text;
    expect(await told('save', { a: long })).toContain('the arguments were not sent: more than 1024 bytes of text');
    expect(server.received.filter(({ method }) => method === 'tools/call')).toEqual([]);
    expect(await told('look')).toContain('the result was withheld: more than 1024 bytes of text');
    expect(await told('list')).toContain('the result was withheld: more than 1024 bytes of text');
    expect(await told('picture')).toContain('AAAA'); // base64 is no text
  });

  proves('ask.protection.bound', 'passes where the configuration says so, searched up to the limit', async () => {
    const server = fakeServer().tool('look', () => ({
      content: [MAIL, long, MAIL].map((each) => ({ type: 'text', text: each })),
    }));
    const lenient = await protectedGateway({ far: server }, { rules: mask, maxTextBytes: 1_024, longerText: 'pass' });
    await using kit = lenient;
    const client = await kit.client();
    const { content } = await client.callTool('look');
    expect(content).toMatchObject([
      { text: '[mail-address]' },
      { text: long.replace(MAIL, '[mail-address]') },
      { text: MAIL },
    ]);
    expect(kit.logged.join()).toContain('a text is too long to be searched for data');
    const report: Rule = { direction: 'results', detectors: all, action: 'report' };
    await using reporting = await protectedGateway({ far: server }, { rules: [report], maxTextBytes: 1_024 });
    expect((await (await reporting.client()).callTool('look')).content).toHaveLength(3);
  });
});

describe('data that a client hides', () => {
  it('is found with separators, in upper case, inside of words that end, and in escaped JSON', () => {
    expect(inText('4111-1111-1111-1111')).toEqual(['card-number']);
    expect(inText('4111\u00a01111\u00a01111\u00a01111')).toEqual(['card-number']);
    expect(inText('ADA@EXAMPLE.COM')).toEqual(['mail-address']);
    expect(inText('gb29 nwbk 6016 1331 9268 19')).toEqual(['iban']);
    expect(inText(`{"a":"{\\"b\\":\\"${MAIL}\\"}"}`)).toEqual(['mail-address']);
    expect(inText(`https://x:${TOKEN}@host`)[0]).toBe('github-token');
  });

  it('is found when JSON spells its characters as escapes', async () => {
    const raw = '{"content":[{"type":"text","text":"\\u0034111 1111 1111 1111, ada\\u0040example.com"}]}';
    const server = fakeServer().tool('look', () => ({ raw }));
    await using kit = await protectedGateway({ far: server }, { rules: mask });
    const client = await kit.client();
    expect((await client.callTool('look')).content).toMatchObject([{ text: '[card-number], [mail-address]' }]);
  });

  it('is not found in base64, with letters that look alike, with characters that are not seen, or spelled in words', () => {
    const hidden = [
      Buffer.from(`${MAIL} ${CARD} ${TOKEN}`).toString('base64'),
      '\uff14111 1111 1111 1111', // a digit of full width
      '4111\u200b1111\u200b1111\u200b1111',
      '4111.1111.1111.1111',
      'ada＠example.com', // an @ of full width
      'ada (at) example (dot) com',
      [...TOKEN].reverse().join(''),
      [...CARD].join('_'),
    ];
    for (const subject of hidden) expect(inText(subject), subject).toEqual([]);
  });

  it('is not found when it is split over strings, content parts or calls, or is in a key', async () => {
    const server = fakeServer().tool('look', () => ({
      content: [
        { type: 'text', text: CARD.slice(0, 9) },
        { type: 'text', text: CARD.slice(9) },
      ],
      structuredContent: { [MAIL]: { user: 'ada', host: 'example.com' } },
    }));
    await using kit = await protectedGateway({ far: server }, { rules: mask });
    const client = await kit.client();
    expect(await client.callTool('look')).toMatchObject({
      content: [{ text: '4111 1111' }, { text: ' 1111 1111' }],
      structuredContent: { [MAIL]: { user: 'ada', host: 'example.com' } },
    });
  });
});
