import type { Era } from '@toolmgr/core';
import { fakeServer, testGateway, text } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { proves } from '../../support/proves.ts';

const ERAS: readonly Era[] = ['2025-11-25', '2026-07-28'];
const CELLS = ERAS.flatMap((client) => ERAS.map((backend) => ({ client, backend })));

/** As their server wrote them: a number that JavaScript cannot hold, an escape, spaces, an empty name. */
const OTHER = String.raw`"retryable":{"after":12345678901234567890, "why":"\u00e9"}`;
const ERROR = `{${OTHER},"code":-32050,"message":"not now","data":{"big":1.0},"":[1.0]}`;
const SENT = `"error":{"code":-32050,"message":"not now","data":{"big":1.0},${OTHER},"":[1.0]}`;

describe.each(CELLS)('an error of a backend of $backend, for a client of $client', ({ client, backend }) => {
  const failing = (raw: string) =>
    fakeServer([backend])
      .resource('memo://1', 'one')
      .tool('fail', () => {
        throw { raw };
      })
      .on('resources/read', () => {
        throw { raw };
      });

  proves('choice.backend.error-members', 'keeps the members that JSON-RPC does not define', async () => {
    await using kit = await testGateway({ backends: { far: failing(ERROR) } });
    const near = await kit.client({ era: client });
    for (const [method, params] of [
      ['tools/call', { name: 'fail', arguments: {} }],
      ['resources/read', { uri: 'memo://1' }],
    ] as const) {
      expect((await near.request(method, params)).text).toContain(SENT);
    }
  });

  proves('choice.backend.error-members', 'has no member that is read as one of the gateway', async () => {
    const error = '{"Code":1,"MEſſAGE":"other","dATA":2,"code":-32050,"message":"not now","x":null}';
    await using kit = await testGateway({ backends: { far: failing(error) } });
    const near = await kit.client({ era: client });
    const { text: answer } = await near.request('tools/call', { name: 'fail', arguments: {} });
    expect(answer).toContain('"error":{"code":-32050,"message":"not now","x":null}');
  });

  proves('choice.backend.error-members-bounded', 'is no larger than a result may be', async () => {
    const error = `{"code":-32050,"message":"not now","x":"${'x'.repeat(70_000)}"}`;
    const plan = { limits: { resultBytes: 65_536 } };
    await using kit = await testGateway({ backends: { far: failing(error) }, plan });
    const near = await kit.client({ era: client });
    const { result } = await near.request('tools/call', { name: 'fail', arguments: {} });
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('BACKEND_TOO_LARGE') }] });
  });
});

describe('an error that a legacy client answers a question with', () => {
  proves('choice.backend.error-members', 'reaches the legacy backend with all its members', async () => {
    const form = { message: 'name?', requestedSchema: { type: 'object', properties: {} } };
    const server = fakeServer(['2025-11-25']).tool('greet', async ({ ask }) => {
      return text(JSON.stringify(await ask('elicitation/create', form).catch((error: unknown) => error)));
    });
    await using kit = await testGateway({ backends: { far: server } });
    const error = { code: -32050, message: 'not now', data: [1], later: { minutes: 5 } };
    const near = await kit.client({
      era: '2025-11-25',
      capabilities: { elicitation: {} },
      answer: () => Promise.reject(error),
    });
    expect(await near.callTool('greet')).toMatchObject({ content: [{ text: JSON.stringify(error) }] });
  });
});
