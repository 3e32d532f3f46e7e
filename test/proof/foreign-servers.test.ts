import type { Era, JsonObject } from '@toolmgr/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SERVER_RIGS, type ServerRig } from '../../scripts/rigs/recipes.ts';
import { foreignServer } from '../support/foreign-servers.ts';
import { proves } from '../support/proves.ts';
import { until } from '../support/until.ts';
import { type Comparable, comparable, type Settle } from './wire/comparable.ts';
import { exampleArguments } from './wire/example-value.ts';
import { gatewayBefore } from './wire/gateway-before.ts';
import { type SurveyPlan, survey } from './wire/survey.ts';
import { httpPeer, type PeerOptions, type WireAnswer, type WirePeer } from './wire/wire-peer.ts';

const LONG = 120_000; // two starts of Python on a busy machine, then some hundred requests
const LEGACY = '2025-11-25';

const ANSWERS: Readonly<Record<string, (params: JsonObject) => JsonObject>> = {
  'roots/list': () => ({ roots: [{ uri: 'file:///home/ada', name: 'home' }] }),
  'sampling/createMessage': () => ({ role: 'assistant', model: 'm1', content: { type: 'text', text: 'sampled' } }),
  'elicitation/create': ({ requestedSchema }) => ({
    action: 'accept',
    content: requestedSchema === undefined ? {} : exampleArguments(requestedSchema as JsonObject),
  }),
};

describe.each(SERVER_RIGS)('%s', (name) => {
  const server = foreignServer(name);
  if ('missing' in server) {
    it.skip(`answers the same direct and through the gateway (skipped: ${server.missing})`);
    return;
  }

  it.each(server.eras)('answers the same direct and through the gateway in %s', { timeout: LONG }, async (era) => {
    const { direct, through } = await bothWays(era);
    const plan = planOf(name);
    const [first, second] = [await survey(direct, plan), await survey(through, plan)];
    expect(first.size).toBeGreaterThan(20);
    expect(told(name, comparable(second, settle))).toEqual(told(name, comparable(first, settle)));
  });

  const { stdio } = server;
  if (stdio !== undefined && !server.eras.includes('2026-07-28')) {
    proves(
      'choice.bridge.question-of-its-call',
      'sends elicitations to two concurrent calls of a 2026-07-28 client over stdio',
      async () => {
        const gateway = await gatewayBefore({ far: stdio });
        onTestFinished(() => gateway[Symbol.asyncDispose]());
        const peer = await httpPeer(gateway.url, options(name, '2026-07-28'));
        onTestFinished(() => peer[Symbol.asyncDispose]());
        const answers = await Promise.all(ASKING.map((asked) => peer.request('tools/call', asked)));
        expect(answers.map(({ error }) => error)).toEqual([undefined, undefined]);
        expect(JSON.stringify(said(answers[0] as WireAnswer))).toContain('accept');
        expect(JSON.stringify(said(answers[1] as WireAnswer))).toContain('sampled');
      },
      LONG,
    );
  }

  if (server.eras.includes('2026-07-28')) {
    proves(
      'choice.era.legacy-session',
      'of both eras, used in 2026-07-28, sends the same requests to a 2025-11-25 client as without the gateway',
      async () => {
        const started = await server.start(LEGACY);
        onTestFinished(() => started[Symbol.asyncDispose]());
        const gateway = await gatewayBefore({ far: { url: started.url } }, 'auto');
        onTestFinished(() => gateway[Symbol.asyncDispose]());
        const direct = await httpPeer(started.url, options(name, LEGACY));
        onTestFinished(() => direct[Symbol.asyncDispose]());
        const through = await httpPeer(gateway.url, options(name, LEGACY));
        onTestFinished(() => through[Symbol.asyncDispose]());
        for (const asked of ASKING) {
          const [first, second] = [
            await direct.request('tools/call', asked),
            await through.request('tools/call', asked),
          ];
          expect(said(second)).toEqual(said(first));
        }
      },
      LONG,
    );
  }

  for (const era of LOSES_NOTIFICATIONS.has(name) ? [] : server.eras) {
    it(`sends progress and logs during a call, direct and through the gateway in ${era}`, {
      timeout: LONG,
    }, async () => {
      const { direct, through } = await bothWays(era);
      const [first, second] = [await notificationsOf(direct, era), await notificationsOf(through, era)];
      expect(first.map(({ method }) => method)).toContain('notifications/progress');
      expect(second).toEqual(first);
    });
  }

  /** A peer at the server and one at a gateway with another instance, because some tools change the lists. */
  async function bothWays(era: Era): Promise<{ readonly direct: WirePeer; readonly through: WirePeer }> {
    if ('missing' in server) throw new Error(server.missing);
    const [first, second] = await Promise.all([server.start(era), server.start(era)]);
    onTestFinished(() => first[Symbol.asyncDispose]());
    onTestFinished(() => second[Symbol.asyncDispose]());
    const gateway = await gatewayBefore({ far: { url: second.url } }, era === LEGACY ? 'legacy' : 'modern');
    onTestFinished(() => gateway[Symbol.asyncDispose]());
    const direct = await httpPeer(first.url, options(name, era));
    onTestFinished(() => direct[Symbol.asyncDispose]());
    const through = await httpPeer(gateway.url, options(name, era));
    onTestFinished(() => through[Symbol.asyncDispose]());
    return { direct, through };
  }
});

/** Calls in which the server sends requests to its client. */
const ASKING = [
  { name: 'test_elicitation', arguments: { message: 'sure?' } },
  { name: 'test_sampling', arguments: { prompt: 'sure?' } },
] as const;

function said({ result, error }: WireAnswer): unknown {
  return error ?? JSON.parse(String(result?.toBytes()));
}

function options(name: ServerRig, era: Era): PeerOptions {
  return {
    era,
    capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } },
    answer: (method, params) => ANSWERS[method]?.(params) ?? {},
    mirrored: { region: 'mcp-param-region', ...(name === 'fastmcp' ? { message: 'mcp-param-message' } : {}) },
  };
}

/** Progress and logs of the two tools for them, in order. */
async function notificationsOf(peer: WirePeer, era: Era): Promise<readonly { method: string; params: JsonObject }[]> {
  const level = 'io.modelcontextprotocol/logLevel';
  if (era === LEGACY) await peer.request('logging/setLevel', { level: 'debug' });
  const progress = await peer.request('tools/call', {
    name: 'test_tool_with_progress',
    arguments: {},
    _meta: { progressToken: 'mine' },
  });
  await until(() => progress.told.length >= 3);
  const logs = await peer.request('tools/call', {
    name: 'test_tool_with_logging',
    arguments: {},
    _meta: era === LEGACY ? {} : { [level]: 'debug' },
  });
  await until(() => logs.told.length >= 3);
  return [...progress.told, ...logs.told].map(({ method, params }) => ({ method, params }));
}

const STREAM = 'its answer comes on a reopened stream';
const TOKEN = "it prints the progress token, which is the gateway's own on its way to a backend";
const TASK = 'it runs only as a task, an extension that is hidden';
const ENDLESS = 'it asks again after every answer';

/** Tools that cannot be compared, each with its reason. */
const NOT_CALLED: Readonly<Partial<Record<ServerRig, Readonly<Record<string, string>>>>> = {
  'go-sdk': { test_tool_with_progress: TOKEN },
  'mcp-python-1': { test_tool_with_progress: TOKEN },
  'mcp-python-2': { test_tool_with_progress: TOKEN, test_input_required_result_capabilities: ENDLESS },
  fastmcp: { failing_job: TASK, test_tool_with_task: TASK },
};

function planOf(name: ServerRig): SurveyPlan {
  const ref = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };
  return {
    notCalled: { test_reconnection: STREAM, ...NOT_CALLED[name] },
    read: ['test://template/1/data'],
    complete: [{ ref, argument: { name: 'arg1', value: 'par' } }],
  };
}

/** Python prints a set in arbitrary order. */
const settle: Settle = (text) => text.replaceAll("{'arg2', 'arg1'}", "{'arg1', 'arg2'}");

/** Servers that sometimes lose notifications, as their own baseline for the suite says. */
const LOSES_NOTIFICATIONS: ReadonlySet<ServerRig> = new Set(['mcp-go']);

/** Removes progress from answers of a server that does not always send it. */
function told(name: ServerRig, answers: Readonly<Record<string, Comparable>>): Readonly<Record<string, Comparable>> {
  if (!LOSES_NOTIFICATIONS.has(name)) return answers;
  return Object.fromEntries(Object.entries(answers).map(([asked, answer]) => [asked, { ...answer, progress: [] }]));
}
