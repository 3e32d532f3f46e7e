import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fakeServer, text } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { CARD, MAIL, protectedGateway, type Rule, TOKEN } from '../../support/protected-gateway.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';

const EVERYTHING = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
const ERAS = ['2025-11-25', '2026-07-28'] as const;
const folder = temporaryFolderOfFile('data-protection');
const all = ['secret', 'personal'];
const maskAll: readonly Rule[] = [
  { direction: 'arguments', detectors: all, action: 'mask' },
  { direction: 'results', detectors: all, action: 'mask' },
];

describe('mask', () => {
  proves(
    'ask.protection.mask',
    'changes strings of arguments at any depth, and no key, number or other byte',
    async () => {
      const server = fakeServer().tool('save');
      await using kit = await protectedGateway({ far: server }, { rules: maskAll.slice(0, 1) });
      for (const era of ERAS) {
        const client = await kit.client({ era });
        const given = { [MAIL]: { deep: [`to ${MAIL}`, 7, CARD] }, 'a"b': 'q"é😀\\', password: 'q7Zk2LmX9pTw4RbV' };
        await client.callTool('save', given);
        const got = server.received.at(-1)?.params.arguments;
        expect(got).toEqual({
          [MAIL]: { deep: ['to [mail-address]', 7, '[card-number]'] },
          'a"b': 'q"é😀\\',
          password: '[generic-secret]',
        });
      }
    },
  );

  proves('ask.protection.mask', 'changes text, structured content and texts of resources in results', async () => {
    const answer =
      `{"content":[{"type":"text","text":"pay ${CARD}"},{"type":"image","data":"4111111111111111","mimeType":"image/png"},` +
      `{"type":"resource","resource":{"uri":"memo://1","text":"${MAIL}","blob":"4111111111111111"}}],` +
      `"structuredContent":{"data":"${CARD}","big":12345678901234567890,"${MAIL}":"${TOKEN}"}, "isError":false}`;
    const server = fakeServer().tool('look', () => ({ raw: answer }));
    await using kit = await protectedGateway({ far: server }, { rules: [...maskAll] });
    for (const era of ERAS) {
      const client = await kit.client({ era });
      const reply = await client.request('tools/call', { name: 'look', arguments: {} });
      expect(reply.text).toContain(
        '"content":[{"type":"text","text":"pay [card-number]"},{"type":"image","data":"4111111111111111","mimeType":"image/png"},' +
          '{"type":"resource","resource":{"uri":"memo://1","text":"[mail-address]","blob":"4111111111111111"}}],' +
          `"structuredContent":{"data":"[card-number]","big":12345678901234567890,"${MAIL}":"[github-token]"}`,
      );
    }
  });

  it('changes prompts, resources and errors of tools', async () => {
    const server = fakeServer()
      .prompt('ask', `write to ${MAIL}`)
      .resource('memo://1', `call +14155552671`)
      .tool('fails', () => text(`no: ${CARD}`, { isError: true }));
    await using kit = await protectedGateway({ far: server }, { rules: [...maskAll] });
    const client = await kit.client();
    expect((await client.request('prompts/get', { name: 'ask' })).text).toContain('write to [mail-address]');
    expect((await client.request('resources/read', { uri: 'memo://1' })).text).toContain('call [phone-number]');
    expect((await client.callTool('fails')).content).toEqual([{ type: 'text', text: 'no: [card-number]' }]);
  });

  it('works with a published server in both directions', async () => {
    const program = { transport: 'stdio' as const, command: { file: process.execPath, args: [EVERYTHING] } };
    const rules = [{ direction: 'results' as const, detectors: ['card-number', 'iban'], action: 'mask' as const }];
    await using kit = await protectedGateway({ everything: program }, { rules: [...rules, ...maskAll.slice(0, 1)] });
    const client = await kit.client({ era: '2025-11-25' });
    const reply = await client.callTool('echo', { message: `${CARD} of ${MAIL}` });
    expect(reply.content).toEqual([{ type: 'text', text: 'Echo: [card-number] of [mail-address]' }]);
  });
});

describe('block', () => {
  proves('ask.protection.block', 'refuses arguments before they are sent, by name', async () => {
    const server = fakeServer().tool('save').template('memo://{text}');
    const rules = [
      { direction: 'arguments' as const, detectors: ['secret', 'mail-address'], action: 'block' as const },
    ];
    await using kit = await protectedGateway({ far: server }, { rules });
    for (const era of ERAS) {
      const client = await kit.client({ era });
      const reply = await client.request('tools/call', { name: 'save', arguments: { text: `${TOKEN} ${MAIL}` } });
      expect(reply.text).toContain(
        'the arguments were not sent: protected data was found (github-token, mail-address)',
      );
      expect(reply.text).not.toContain(TOKEN);
      expect(reply.error?.code).toBe(422);
      for (const uri of [
        `memo://${MAIL}`,
        `memo://to=${MAIL.replace('@', '%40')}`,
        `memo://%C3%A9%${MAIL.replace('@', '%40')}%FF`,
      ]) {
        const read = await client.request('resources/read', { uri });
        expect(read.text, uri).toContain('protected data was found (mail-address)');
      }
    }
    expect(server.received.filter(({ method }) => method !== 'tools/call' && method !== 'resources/read')).toEqual(
      server.received,
    );
  });

  proves('ask.protection.block', 'withholds results and errors of backends, by name', async () => {
    const server = fakeServer()
      .tool('look', () => text(`the token ${TOKEN}`))
      .tool('breaks', () => {
        throw { code: -32050, message: 'out of order', data: { why: TOKEN } };
      });
    const rules = [{ direction: 'results' as const, detectors: ['secret'], action: 'block' as const }];
    await using kit = await protectedGateway({ far: server }, { rules });
    for (const era of ERAS) {
      const client = await kit.client({ era });
      for (const name of ['look', 'breaks']) {
        const reply = await client.request('tools/call', { name, arguments: {} });
        expect(reply.text).toContain('the result was withheld: protected data was found (github-token)');
        expect(reply.text).not.toContain(TOKEN);
      }
    }
  });
});

describe('report', () => {
  proves('ask.protection.report', 'tells names and counts in audit and metrics, and changes nothing', async () => {
    const logFile = join(folder, 'audit.log');
    const server = fakeServer()
      .tool('save', () => text(`${MAIL} and bob@example.com`))
      .resource(`memo://${MAIL}`, TOKEN);
    const rules: Rule[] = [
      { direction: 'results', detectors: ['personal'], action: 'report' },
      { direction: 'results', detectors: ['secret'], action: 'block' },
    ];
    await using kit = await protectedGateway({ far: server }, { rules }, [
      { use: 'audit', with: { logFile, eventTypes: ['vmcp_data_found'] } },
      { use: 'telemetry', with: { enablePrometheusMetricsPath: true } },
    ]);
    const client = await kit.client();
    expect((await client.callTool('save')).content).toEqual([{ type: 'text', text: `${MAIL} and bob@example.com` }]);
    expect((await client.request('resources/read', { uri: `memo://${MAIL}` })).text).toContain('withheld');
    const metrics = await (await kit.gateway.fetch(new Request('http://localhost/metrics'))).text();
    const sample = (labels: string) =>
      metrics.split('\n').find((line) => /^toolmgr_data_found/.test(line) && line.includes(labels));
    expect(sample('detector="mail-address",action="report"')).toMatch(/ 2$/); // the URI in the contents is one too
    expect(sample('detector="github-token",action="block"')).toMatch(/ 1$/);
    await kit.gateway.stop();
    const written = await readFile(logFile, 'utf8');
    const lines = written
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ outcome, target, metadata }) => ({ outcome, ...target, ...metadata.extra }))).toMatchObject([
      {
        outcome: 'success',
        name: 'save',
        backend: 'far',
        direction: 'results',
        detector: 'mail-address',
        action: 'report',
        count: 2,
      },
      { outcome: 'success', method: 'resources/read', detector: 'mail-address', action: 'report', count: 1 },
      { outcome: 'denied', method: 'resources/read', detector: 'github-token', action: 'block', count: 1 },
    ]);
    for (const value of [MAIL, TOKEN]) expect(written).not.toContain(value);
  });
});

describe('rules', () => {
  proves('ask.protection.rules', 'are tried in order for each finding, by backend, tool and detector', async () => {
    const look = () => text(`${MAIL} ${TOKEN}`);
    const [near, far] = [fakeServer().tool('mine', look), fakeServer().tool('look', look).tool('other', look)];
    const direction = 'results' as const;
    await using kit = await protectedGateway(
      { near, far },
      {
        rules: [
          { direction, tools: ['look'], detectors: ['mail-address'], action: 'report' },
          { direction, backends: ['far'], detectors: ['mail-address'], action: 'mask' },
          { direction, backends: ['far'], tools: ['other'], detectors: ['secret'], action: 'block' },
          { direction, detectors: ['secret'], action: 'mask' },
        ],
      },
    );
    const client = await kit.client();
    expect((await client.callTool('look')).content).toEqual([{ type: 'text', text: `${MAIL} [github-token]` }]);
    expect((await client.callTool('mine')).content).toEqual([{ type: 'text', text: `${MAIL} [github-token]` }]);
    await expect(client.callTool('other')).rejects.toThrow('(github-token)');
  });

  proves('ask.protection.untouched', 'that find nothing, or are not about a call, leave all bytes alone', async () => {
    const raw =
      '{ "content" : [ {"type":"text","text":"\\u0041 \\/ nothing"} ], "_meta":{"a": 1e999 }, "x": 12345678901234567890 }';
    const server = () =>
      fakeServer(['2026-07-28'])
        .tool('look', () => ({ raw }))
        .tool('save');
    const answerOf = async (rules: readonly Rule[]) => {
      await using kit = await protectedGateway({ far: server() }, { rules: [...rules] });
      const client = await kit.client();
      return (await client.request('tools/call', { name: 'look', arguments: {} })).text;
    };
    const other = await answerOf([{ direction: 'results', tools: ['save'], detectors: ['personal'], action: 'block' }]);
    expect(other).toContain('[ {"type":"text","text":"\\u0041 \\/ nothing"} ]');
    expect(other).toContain('12345678901234567890');
    expect(await answerOf(maskAll)).toBe(other);
  });

  it('warn of tools that do not exist', async () => {
    await using kit = await protectedGateway(
      { far: fakeServer().tool('look') },
      { rules: [{ direction: 'results', tools: ['lok'], detectors: ['secret'], action: 'block' }] },
    );
    expect(kit.logged.map((line) => JSON.parse(line).warning).join()).toContain(
      'data-protection: rules[0].tools[0] names tool "lok", which does not exist, did you mean "look"?',
    );
  });
});
