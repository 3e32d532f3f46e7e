import type { JsonObject } from '@toolmgr/core';
import { fakeClock } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { composing, composite } from '../../support/composites.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

const ERAS = ['2025-11-25', '2026-07-28'] as const;
const CAN = { elicitation: {} };
const SCHEMA = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] };

const asks = (more: object = {}): JsonObject => ({
  id: 'ask',
  type: 'elicitation',
  message: 'How large, {{.params.who}}?',
  schema: SCHEMA,
  ...more,
});
const thenEcho = (message: string, more: object = {}): JsonObject => ({
  id: 'then',
  tool: 'far.echo',
  arguments: { message },
  dependsOn: ['ask'],
  ...more,
});

/** A client that gives the same answer to every elicitation, and records the requests. */
function person(answer: JsonObject) {
  const asked: { method: string; params: JsonObject }[] = [];
  return {
    asked,
    answer: (method: string, params: JsonObject) => {
      asked.push({ method, params });
      return answer;
    },
  };
}

describe('an elicitation step', () => {
  for (const era of ERAS) {
    proves(
      ['vmcp.composite.elicitation.message', 'vmcp.composite.elicitation.schema', 'choice.composite.suspended'],
      `sends its message and form to a ${era} client and outputs the answer`,
      async () => {
        await using kit = await composing([
          composite([asks(), thenEcho('{{.steps.ask.output.action}} {{.steps.ask.output.content.size}}')]),
        ]);
        const { asked, answer } = person({ action: 'accept', content: { size: 7 } });
        const { output } = await kit.ask('flow', { who: 'Ada' }, { era, capabilities: CAN, answer });
        expect(output).toEqual({ text: 'accept 7' });
        expect(asked).toEqual([
          {
            method: 'elicitation/create',
            params: { mode: 'form', message: 'How large, Ada?', requestedSchema: SCHEMA },
          },
        ]);
        expect(kit.changes()).toEqual(era === ERAS[0] ? SAID_AT_ONCE : SAID_LATER);
      },
    );

    proves(
      [
        'vmcp.composite.elicitation.on-decline',
        'vmcp.composite.elicitation.on-cancel',
        'choice.composite.skip-remaining',
      ],
      `aborts, continues or skips the rest, as configured, when a ${era} client declines`,
      async () => {
        const flows: JsonObject[] = (['abort', 'continue', 'skip_remaining'] as const).map((action) => ({
          name: action,
          steps: [
            { id: 'first', tool: 'far.echo', arguments: { message: 'begun' } },
            asks({ dependsOn: ['first'], onDecline: { action }, onCancel: { action } }),
            thenEcho('went on', { dependsOn: ['ask'] }),
          ],
          output: {
            properties: {
              action: { type: 'string', value: '{{.steps.ask.output.action}}' },
              skipped: { type: 'boolean', value: '{{.steps.ask.output.skipped}}', default: false },
              last: { type: 'string', value: '{{.steps.then.status}}' },
            },
          },
        }));
        await using kit = await composing([
          ...flows,
          {
            name: 'only_no',
            steps: [asks({ onDecline: { action: 'continue' } }), thenEcho('{{.steps.ask.output.action}}')],
          },
          {
            name: 'only_leaving',
            steps: [asks({ onCancel: { action: 'continue' } }), thenEcho('{{.steps.ask.output.action}}')],
          },
          { name: 'silent', steps: [asks()] },
          { name: 'empty', steps: [asks({ onDecline: {}, onCancel: {} })] },
        ]);
        for (const [no, said] of [
          ['decline', 'declined by user'],
          ['cancel', 'cancelled by user'],
        ] as const) {
          const client = { era, capabilities: CAN, ...person({ action: no }) };
          expect(await kit.ask('abort', {}, client)).toMatchObject({
            isError: true,
            text: `Workflow execution failed: elicitation in step ask: ${said}`,
          });
          for (const name of ['silent', 'empty']) {
            expect(await kit.ask(name, {}, client)).toMatchObject({
              isError: true,
              text: expect.stringContaining(said),
            });
          }
          expect((await kit.ask('continue', {}, client)).output).toEqual({
            action: no,
            skipped: false,
            last: 'completed',
          });
          expect((await kit.ask('skip_remaining', {}, client)).output).toEqual({
            action: no,
            skipped: true,
            last: 'skipped',
          });
        }
        expect(
          kit.far.received.filter(({ params }) => (params.arguments as JsonObject)?.message === 'went on'),
        ).toHaveLength(2);
        const [declines, cancels] = (['decline', 'cancel'] as const).map((action) => ({
          era,
          capabilities: CAN,
          ...person({ action }),
        }));
        expect((await kit.ask('only_no', {}, declines)).output).toEqual({ text: 'decline' });
        expect((await kit.ask('only_no', {}, cancels)).isError).toBe(true);
        expect((await kit.ask('only_leaving', {}, cancels)).output).toEqual({ text: 'cancel' });
        expect((await kit.ask('only_leaving', {}, declines)).isError).toBe(true);
      },
    );
  }

  const SAID_AT_ONCE = [
    'started',
    'step_started ask',
    'step_completed ask',
    'step_started then',
    'step_completed then',
    'completed',
  ];
  const SAID_LATER = [
    'started',
    'step_started ask',
    'step_started ask',
    'step_completed ask',
    'step_started then',
    'step_completed then',
    'completed',
  ];

  proves(
    'choice.composite.cannot-be-asked',
    'fails at once for a client without elicitation; a modern client gets the missing capability',
    async () => {
      const onError = { onError: { action: 'continue' } };
      await using kit = await composing([
        { name: 'must', steps: [asks()] },
        { name: 'may', steps: [asks(onError), { ...thenEcho('{{.steps.ask.status}}') }] },
      ]);
      expect((await kit.ask('must', {}, { era: ERAS[0] })).text).toMatch(
        /^Workflow execution failed: elicitation in step ask: the client did not declare elicitation/,
      );
      const modern = await kit.client({ era: ERAS[1] });
      const { error, status } = await modern.request('tools/call', { name: 'must', arguments: {} });
      expect({ code: error?.code, data: error?.data, status }).toEqual({
        code: -32021,
        data: { requiredCapabilities: { elicitation: {} } },
        status: 400,
      });
      for (const era of ERAS) expect((await kit.ask('may', {}, { era })).output).toEqual({ text: 'failed' });
    },
  );

  proves('choice.composite.question-time', 'counts as cancelled without an answer in time', async () => {
    const steps = [
      asks({ timeout: '30ms', onCancel: { action: 'continue' } }),
      thenEcho('{{.steps.ask.output.action}}'),
    ];
    const clock = fakeClock();
    await using kit = await composing([composite(steps), { name: 'strict', steps: [asks({ timeout: '30ms' })] }], {
      now: clock.now,
    });
    const late = {
      era: ERAS[0],
      capabilities: CAN,
      async answer() {
        const before = kit.events.length;
        await until(() =>
          kit
            .changes()
            .slice(before)
            .some((change) => change.endsWith('ed ask')),
        );
        return { action: 'accept', content: { size: 1 } };
      },
    };
    expect((await kit.ask('flow', {}, late)).output).toEqual({ text: 'timeout' });
    expect((await kit.ask('strict', {}, late)).text).toBe(
      'Workflow execution failed: elicitation in step ask: timed out',
    );
    const answer = () => {
      clock.advance(31);
      return { action: 'accept', content: { size: 1 } };
    };
    expect((await kit.ask('flow', {}, { era: ERAS[1], capabilities: CAN, answer })).output).toEqual({
      text: 'timeout',
    });
  });

  proves('choice.composite.question-time', 'waits at most ten minutes; a longer timeout logs a warning', async () => {
    const clock = fakeClock();
    const steps = [asks({ timeout: '1h', onCancel: { action: 'continue' } }), thenEcho('{{.steps.ask.output.action}}')];
    await using kit = await composing([composite(steps)], { now: clock.now, limits: { requestStateTtlMs: 3_600_000 } });
    expect(kit.logged.join()).toContain('flow: step ask: timeout is more than 600000 ms');
    for (const [afterMs, action] of [
      [600_000, 'accept'],
      [600_001, 'timeout'],
    ] as const) {
      const answer = () => {
        clock.advance(afterMs);
        return { action: 'accept', content: { size: 1 } };
      };
      const asked = await kit.ask('flow', {}, { era: ERAS[1], capabilities: CAN, answer });
      expect([afterMs, asked.output]).toEqual([afterMs, { text: action }]);
    }
  });

  proves(
    'choice.composite.answers-checked',
    'fails on an answer that is malformed, does not match the form, or is too large or deep',
    async () => {
      let deep: JsonObject = { size: 1 };
      for (let depth = 0; depth < 12; depth++) deep = { size: 1, deep };
      const wrong: [JsonObject, RegExp][] = [
        [{ action: 'accept', content: { size: 'large' } }, /does not match the form: size: must be integer/],
        [{ action: 'accept' }, /does not match the form: must have required property 'size'/],
        [{ action: 'accept', content: [] }, /not an object/],
        [{ action: 'maybe' }, /neither accept, decline nor cancel/],
        [{ action: 'accept', content: deep }, /nested more than 10 deep/],
        [{ action: 'accept', content: { size: 1, note: 'x'.repeat(1_100_000) } }, /larger than 1048576 bytes/],
      ];
      await using kit = await composing([composite([asks()])]);
      for (const era of ERAS) {
        for (const [answer, says] of wrong) {
          const { isError, text } = await kit.ask('flow', {}, { era, capabilities: CAN, answer: () => answer });
          expect(isError).toBe(true);
          expect(text).toMatch(says);
          expect(text).not.toContain('large"');
        }
      }
    },
  );
});

describe('a suspended workflow', () => {
  proves(
    'choice.composite.suspended',
    'resumes once, where it stopped, for the same caller and arguments only',
    async () => {
      const steps = [
        { id: 'first', tool: 'far.echo', arguments: { message: 'once' } },
        asks({ dependsOn: ['first'] }),
        thenEcho('{{.steps.first.output.text}} {{.steps.ask.output.content.size}}', { dependsOn: ['first', 'ask'] }),
      ];
      await using kit = await composing([composite(steps)]);
      const client = await kit.client({ capabilities: CAN });
      const call = (more: JsonObject, given: JsonObject = { who: 'x' }) =>
        client.request('tools/call', { name: 'flow', arguments: given, ...more });
      const first = (await call({})).result as { resultType: string; requestState: string; inputRequests: JsonObject };
      expect(first.resultType).toBe('input_required');
      expect(Object.keys(first.inputRequests)).toEqual(['ask']);
      expect(Buffer.from(first.requestState, 'base64url').toString('latin1')).not.toContain(kit.events[0]?.workflowId);
      const inputResponses = { ask: { action: 'accept', content: { size: 3 } } };
      const { requestState } = first;
      expect((await call({ requestState: `${requestState.slice(0, -2)}AA`, inputResponses })).error?.code).toBe(-32602);
      expect((await call({ requestState, inputResponses }, { who: 'y' })).error?.code).toBe(-32602);
      const done = await call({ requestState, inputResponses });
      expect(done.result?.structuredContent).toEqual({ text: 'once 3' });
      expect((await call({ requestState, inputResponses })).error).toMatchObject({
        code: -32602,
        message: 'requestState is invalid or expired',
      });
      expect(kit.far.received.filter(({ method }) => method === 'tools/call')).toHaveLength(2);
    },
  );

  it('asks again for a missing answer', async () => {
    await using kit = await composing([
      composite([
        asks(),
        { ...asks(), id: 'too' },
        thenEcho('{{.steps.ask.output.content.size}} {{.steps.too.output.content.size}}', {
          dependsOn: ['ask', 'too'],
        }),
      ]),
    ]);
    const client = await kit.client({ capabilities: CAN });
    const call = async (more: JsonObject) =>
      (await client.request('tools/call', { name: 'flow', arguments: {}, ...more })).result as JsonObject;
    const answer = (size: number) => ({ action: 'accept', content: { size } });
    const first = await call({});
    expect(Object.keys(first.inputRequests as object)).toEqual(['ask', 'too']);
    const second = await call({
      requestState: first.requestState,
      inputResponses: { too: answer(2), other: answer(9) },
    });
    expect(Object.keys(second.inputRequests as object)).toEqual(['ask']);
    const third = await call({ requestState: second.requestState, inputResponses: { ask: answer(1) } });
    expect(third.structuredContent).toEqual({ text: '1 2' });
  });
});
