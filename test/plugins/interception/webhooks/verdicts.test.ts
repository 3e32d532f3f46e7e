import { describe, expect, it } from 'vitest';
import { proves } from '../../../support/proves.ts';
import { allow, deny, patching, type WebhookAnswer, webhookServer } from '../../../support/webhook-server.ts';
import { hook, hooked, toolCalls } from './support.ts';

const status =
  (code: number): WebhookAnswer =>
  (_, response) =>
    void response.writeHead(code).end('{"allowed":true}');
const raw =
  (body: string): WebhookAnswer =>
  (_, response) =>
    void response.end(body);
const MIB = 1024 * 1024;

/** What the caller gets: `sent`, or the HTTP status and the code of the error. */
type Outcome = 'sent' | 'patched' | readonly [number, number];

interface Row {
  readonly it: string;
  readonly answer: WebhookAnswer;
  readonly validating: { readonly fail: Outcome; readonly ignore: Outcome };
  readonly mutating: { readonly fail: Outcome; readonly ignore: Outcome };
}

const both = (outcome: Outcome) => ({ fail: outcome, ignore: outcome });
const DENIED = both([403, 403]);
/** No valid answer. */
const NONE = {
  validating: { fail: [403, 403], ignore: 'sent' },
  mutating: { fail: [500, -32603], ignore: 'sent' },
} as const;

const ROWS: readonly Row[] = [
  { it: 'allows', answer: allow, validating: both('sent'), mutating: both('sent') },
  {
    it: 'allows with a patch',
    answer: patching({ op: 'replace', path: '/mcp_request/params/arguments/n', value: 2 }),
    validating: both('sent'),
    mutating: both('patched'),
  },
  { it: 'denies', answer: deny, validating: DENIED, mutating: DENIED },
  { it: 'answers 422', answer: status(422), validating: DENIED, mutating: both([422, 422]) },
  { it: 'answers 500', answer: status(500), ...NONE },
  { it: 'answers 204', answer: status(204), ...NONE },
  { it: 'answers 403', answer: status(403), ...NONE },
  { it: 'answers text', answer: raw('yes'), ...NONE },
  { it: 'answers an array', answer: raw('[]'), ...NONE },
  { it: 'answers without allowed', answer: () => ({}), ...NONE },
  { it: 'answers allowed as text', answer: () => ({ allowed: 'true' }), ...NONE },
  { it: 'answers another uid', answer: () => ({ allowed: true, uid: 'other' }), ...NONE },
  { it: 'answers another version', answer: () => ({ allowed: true, version: 'v9' }), ...NONE },
  { it: 'answers over 1 MiB', answer: () => ({ allowed: true, message: 'x'.repeat(MIB) }), ...NONE },
  { it: 'redirects', answer: (_, response) => void response.writeHead(307, { location: '/other' }).end(), ...NONE },
  { it: 'closes the connection', answer: (_, response) => void response.destroy(), ...NONE },
  {
    it: 'patches something missing',
    answer: patching({ op: 'remove', path: '/mcp_request/params/arguments/missing' }),
    validating: both('sent'),
    mutating: NONE.mutating,
  },
  {
    it: 'patches without a patch type',
    answer: () => ({ allowed: true, patch: [{ op: 'remove', path: '/mcp_request/params/arguments/n' }] }),
    validating: both('sent'),
    mutating: NONE.mutating,
  },
];

describe('a webhook that', () => {
  for (const { it: does, answer, ...kinds } of ROWS) {
    proves('choice.webhooks.verdicts', `${does} has the effect of the table`, async () => {
      await using server = await webhookServer(answer);
      for (const kind of ['validating', 'mutating'] as const) {
        for (const policy of ['fail', 'ignore'] as const) {
          await using kit = await hooked({ [kind]: [hook(server, { failure_policy: policy })] });
          const client = await kit.client();
          const reply = await client.request('tools/call', { name: 'echo', arguments: { n: 1 } });
          const expected = kinds[kind][policy];
          const sent = toolCalls(kit.far).map((params) => params.arguments);
          if (expected === 'sent') expect([kind, policy, sent]).toEqual([kind, policy, [{ n: 1 }]]);
          else if (expected === 'patched') expect(sent).toEqual([{ n: 2 }]);
          else expect([kind, policy, reply.status, reply.error?.code, sent]).toEqual([kind, policy, ...expected, []]);
          expect(reply.text).not.toMatch(/internal words|rule 7/);
          const warned = kit.logged.filter((line) => line.includes('a webhook gives no valid answer'));
          expect(warned.length).toBe(kinds[kind] === NONE[kind] ? 1 : 0);
        }
      }
    });
  }

  proves('choice.webhooks.verdicts', 'would get more than 1 MiB is not asked: 413', async () => {
    await using server = await webhookServer(allow);
    for (const kind of ['validating', 'mutating']) {
      await using kit = await hooked({ [kind]: [hook(server, { failure_policy: 'ignore' })] });
      const client = await kit.client();
      const reply = await client.request('tools/call', { name: 'echo', arguments: { n: 'x'.repeat(MIB) } });
      expect([reply.status, reply.error?.code]).toEqual([413, 413]);
      expect(server.requests).toEqual([]);
    }
  });

  proves(
    'choice.webhooks.verdicts',
    'denies ends the asking; mutating ones see the call of the one before',
    async () => {
      await using first = await webhookServer(
        patching({ op: 'add', path: '/mcp_request/params/arguments/a', value: 1 }),
      );
      await using second = await webhookServer(
        patching({ op: 'add', path: '/mcp_request/params/arguments/b', value: 2 }),
      );
      await using third = await webhookServer(deny);
      await using last = await webhookServer(allow);
      const config = {
        mutating: [hook(first, { name: 'one' }), hook(second, { name: 'two' })],
        validating: [hook(third, { name: 'three' }), hook(last, { name: 'four' })],
      };
      await using kit = await hooked(config);
      const reply = await (await kit.client()).request('tools/call', { name: 'echo', arguments: {} });
      expect(reply.status).toBe(403);
      const seen = [first, second, third].map(({ requests }) =>
        requests.map(({ payload }) => payload.mcp_request.params),
      );
      expect(seen.map(([params]) => params?.arguments)).toEqual([{}, { a: 1 }, { a: 1, b: 2 }]);
      expect(last.requests).toEqual([]);
      expect(toolCalls(kit.far)).toEqual([]);
    },
  );
});

describe('the log', () => {
  it('has two lines for an outage, however many calls there were', async () => {
    let isBroken = true;
    await using server = await webhookServer((request, response) =>
      isBroken ? status(500)(request, response) : { allowed: true },
    );
    await using kit = await hooked({ validating: [hook(server, { failure_policy: 'ignore' })] });
    const client = await kit.client();
    for (let call = 0; call < 5; call++) await client.callTool('echo', {});
    isBroken = false;
    await client.callTool('echo', {});
    const lines = kit.logged.filter((line) => line.includes('webhook gives'));
    expect(lines).toHaveLength(1); // the end of an outage is of the level info
    expect(lines[0]).toContain('"webhook":"hook"');
  });
});
