import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Era, JsonObject } from '@toolmgr/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startConformanceServer } from '../support/conformance-server.ts';
import { proves } from '../support/proves.ts';
import { sdkGateway } from '../support/sdk-gateway.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Comparable, comparable, type Settle } from './wire/comparable.ts';
import { exampleArguments } from './wire/example-value.ts';
import { type FarServer, gatewayBefore } from './wire/gateway-before.ts';
import { everythingOverHttp, published } from './wire/published.ts';
import { type SurveyPlan, survey } from './wire/survey.ts';
import { httpPeer, type PeerOptions, stdioPeer, type WirePeer } from './wire/wire-peer.ts';

const LONG = 60_000;
const ERAS = ['2025-11-25', '2026-07-28'] as const;

/** Declared client capabilities: the lists of some servers depend on them. */
const DECLARED = {
  nothing: {},
  'elicitation, sampling and roots': { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } },
} as const satisfies Record<string, JsonObject>;

/** The client's answers to server requests; forms are filled in by their schema. */
const ANSWERS: Readonly<Record<string, (params: JsonObject) => JsonObject>> = {
  'roots/list': () => ({ roots: [{ uri: 'file:///home/ada', name: 'home' }] }),
  'sampling/createMessage': () => ({ role: 'assistant', model: 'm1', content: { type: 'text', text: 'sampled' } }),
  'elicitation/create': ({ requestedSchema }) => ({
    action: 'accept',
    content: requestedSchema === undefined ? {} : exampleArguments(requestedSchema as JsonObject),
  }),
};

function options(era: Era, capabilities: JsonObject): PeerOptions {
  return {
    era,
    capabilities,
    answer: (method, params) => ANSWERS[method]?.(params) ?? {},
    mirrored: { region: 'mcp-param-region' },
  };
}

/** Compares all answers of both sides; a failure names the requests that differ. */
function expectSame(
  through: Readonly<Record<string, Comparable>>,
  direct: Readonly<Record<string, Comparable>>,
  least: number,
): void {
  expect(Object.keys(direct).length).toBeGreaterThanOrEqual(least);
  expect(through).toEqual(direct);
}

/** Sends the same requests to a server and to a gateway with the same server, at the same time. */
async function compared(
  { direct, through }: { readonly direct: WirePeer; readonly through: WirePeer },
  plan: SurveyPlan,
  settle: { readonly direct: Settle; readonly through: Settle },
) {
  const [first, second] = await Promise.all([survey(direct, plan), survey(through, plan)]);
  return { direct: comparable(first, settle.direct), through: comparable(second, settle.through) };
}

/** A peer at a gateway with one server; both end with the test. */
async function throughGateway(server: FarServer, era: Era, capabilities: JsonObject): Promise<WirePeer> {
  const gateway = await gatewayBefore({ far: server }, era === '2026-07-28' ? 'modern' : 'legacy');
  onTestFinished(() => gateway[Symbol.asyncDispose]());
  return ending(await httpPeer(gateway.url, options(era, capabilities)));
}

function ending<T extends AsyncDisposable>(thing: T): T {
  onTestFinished(() => thing[Symbol.asyncDispose]());
  return thing;
}

const EVERYTHING: SurveyPlan = {
  arguments: {
    'trigger-long-running-operation': { duration: 0.1, steps: 2 },
    'gzip-file-as-resource': { name: 'a.gz', data: 'data:text/plain,hello', outputType: 'resource' },
    'resource-prompt': { resourceType: 'Text', resourceId: '1' },
  },
  wrong: {
    'trigger-long-running-operation': { duration: 'long' },
    'gzip-file-as-resource': { data: 'no url' },
    'get-resource-reference': { resourceId: -1 },
  },
  notCalled: { 'get-env': 'prints the environment, which the gateway reduces' },
  read: ['demo://resource/dynamic/text/1', 'demo://resource/dynamic/blob/1', 'demo://resource/dynamic/text/x'],
  complete: [
    {
      ref: { type: 'ref/prompt', name: 'completable-prompt' },
      argument: { name: 'department', value: 'E' },
    },
    {
      ref: { type: 'ref/prompt', name: 'completable-prompt' },
      argument: { name: 'name', value: '' },
      context: { arguments: { department: 'Sales' } },
    },
    {
      ref: { type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' },
      argument: { name: 'resourceId', value: '1' },
    },
  ],
};

/** Removes the time from texts and blobs of that server, and its session from two answers. */
const withoutTimes: Settle = (text) =>
  text
    .replace(/"blob":"([^"]+)"/g, (_, blob: string) => `"blob":"${atLeastText(blob)}"`)
    .replace(/\d{1,2}:\d\d:\d\d [AP]M/g, '<time>')
    .replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '<uuid>');

/**
 * Also removes what two tools toggle in the server's session: a client without sessions gets another session of the
 * backend when its first one is busy.
 */
const withoutState: Settle = (text) => withoutTimes(text).replace(/(Started|Stopped) simulated[^"\\]*/g, '<toggled>');

/** Converts a blob with a time to text; other blobs are unchanged. */
function atLeastText(blob: string): string {
  const text = Buffer.from(blob, 'base64').toString();
  return text.startsWith('Resource ') ? text : blob;
}

describe.each(Object.entries(DECLARED))('to a client that declares %s', (_, capabilities) => {
  it('the Everything server answers the same over stdio', { timeout: LONG }, async () => {
    const far = published('everything');
    const direct = ending(await stdioPeer(far, options('2025-11-25', capabilities)));
    const through = await throughGateway(far, '2025-11-25', capabilities);
    const answers = await compared({ direct, through }, EVERYTHING, { direct: withoutTimes, through: withoutTimes });
    expectSame(answers.through, answers.direct, 40);
    expect(through.hello.string('instructions')).toContain(direct.hello.string('instructions') ?? 'none');
    const declared = Object.keys(direct.hello.value('capabilities') as JsonObject).filter((name) => name !== 'tasks');
    expect(Object.keys(through.hello.value('capabilities') as JsonObject)).toEqual(expect.arrayContaining(declared));
  });

  it('the Everything server answers the same over streamable HTTP', { timeout: LONG }, async () => {
    const far = ending(await everythingOverHttp());
    const direct = ending(await httpPeer(far.url, options('2025-11-25', capabilities)));
    const through = await throughGateway(far, '2025-11-25', capabilities);
    const answers = await compared({ direct, through }, EVERYTHING, { direct: withoutTimes, through: withoutTimes });
    expectSame(answers.through, answers.direct, 40);
  });

  it('the Everything server answers a client of the other revision the same', { timeout: LONG }, async () => {
    const far = published('everything');
    const direct = ending(await stdioPeer(far, options('2025-11-25', capabilities)));
    const gateway = ending(await gatewayBefore({ far }, 'legacy'));
    const through = ending(await httpPeer(gateway.url, options('2026-07-28', capabilities)));
    const answers = await compared({ direct, through }, EVERYTHING, { direct: withoutState, through: withoutState });
    expectSame(answers.through, answers.direct, 40);
  });

  it.each(ERAS)('a server of both revisions answers the same in %s', { timeout: LONG }, async (era) => {
    // two servers: some tools change what is listed
    const [first, second] = [ending(await startConformanceServer()), ending(await startConformanceServer())];
    const direct = ending(await httpPeer(first.url, options(era, capabilities)));
    const through = await throughGateway(second, era, capabilities);
    const answers = await compared({ direct, through }, fixturePlan(era), { direct: asItIs, through: asItIs });
    expectSame(answers.through, answers.direct, 50);
  });

  it.each(ERAS)('a gateway of the SDK says the same in %s', { timeout: LONG }, async (era) => {
    const [first, second] = [ending(await startConformanceServer()), ending(await startConformanceServer())];
    const oracle = ending(await sdkGateway(first.url, era));
    const direct = ending(await httpPeer(oracle.url, options(era, capabilities)));
    const through = await throughGateway(second, era, capabilities);
    const { notCalled, ...plan } = fixturePlan(era);
    const asked = { ...plan, notCalled: { ...notCalled, ...BEYOND_SDK } };
    const answers = await compared({ direct, through }, asked, { direct: asItIs, through: asItIs });
    expectSame(answers.through, answers.direct, 50);
  });
});

describe('a server of both revisions that the gateway uses in the other one', () => {
  // with fewer capabilities the server itself answers differently in each revision
  it.each(ERAS)('answers a client of %s the same', { timeout: LONG }, async (era) => {
    const capabilities = DECLARED['elicitation, sampling and roots'];
    const [first, second] = [ending(await startConformanceServer()), ending(await startConformanceServer())];
    const direct = ending(await httpPeer(first.url, options(era, capabilities)));
    const gateway = ending(await gatewayBefore({ far: second }, era === '2026-07-28' ? 'legacy' : 'modern'));
    const through = ending(await httpPeer(gateway.url, options(era, capabilities)));
    const answers = await compared({ direct, through }, fixturePlan(era), { direct: asItIs, through: asItIs });
    expectSame(answers.through, answers.direct, 50);
  });
});

/** Differences because of limits of the SDK gateway. */
const BEYOND_SDK = { test_x_mcp_header: 'its client mirrors arguments only of tools that it listed itself' };

const asItIs: Settle = (text) => text;

function fixturePlan(era: Era): SurveyPlan {
  const ref = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };
  return {
    notCalled: era === '2026-07-28' ? {} : { test_reconnection: 'its answer comes on a stream that is opened again' },
    read: ['test://template/1/data', 'test://template/%C3%BC/data'],
    complete: [
      { ref, argument: { name: 'arg1', value: 'par' } },
      { ref, argument: { name: 'arg2', value: 'x' } },
    ],
  };
}

describe('published servers', () => {
  it('the Filesystem server answers the same', { timeout: LONG }, async () => {
    const folders = [freshFolder(), freshFolder()] as const;
    const settled = (folder: string): Settle => {
      return (text) =>
        text.replaceAll(folder, '<folder>').replace(/(created|modified|accessed): [^\\"]+/g, '$1: <time>');
    };
    const [one, two] = folders;
    const direct = ending(await stdioPeer(published('filesystem', [one]), options('2025-11-25', {})));
    const through = await throughGateway(published('filesystem', [two]), '2025-11-25', {});
    const [first, second] = await Promise.all([survey(direct, filePlan(one)), survey(through, filePlan(two))]);
    expectSame(comparable(second, settled(two)), comparable(first, settled(one)), 25);
  });

  it('the Memory server answers the same', { timeout: LONG }, async () => {
    const far = () => published('memory', [], { MEMORY_FILE_PATH: join(freshFolder(), 'memory.json') });
    const direct = ending(await stdioPeer(far(), options('2025-11-25', {})));
    const through = await throughGateway(far(), '2025-11-25', {});
    const answers = await compared({ direct, through }, {}, { direct: asItIs, through: asItIs });
    expectSame(answers.through, answers.direct, 18);
  });
});

function freshFolder(): string {
  const folder = temporaryFolder('proof-files');
  mkdirSync(join(folder, 'inner'));
  writeFileSync(join(folder, 'a.txt'), 'one\ntwo\nthree\n');
  writeFileSync(join(folder, 'pixel.png'), Buffer.from('iVBORw0KGgoAAAANSUhEUg==', 'base64'));
  writeFileSync(join(folder, 'inner', 'b.txt'), 'ü — ß 😀');
  return folder;
}

function filePlan(folder: string): SurveyPlan {
  const path = join(folder, 'a.txt');
  const other = join(folder, 'inner', 'b.txt');
  return {
    arguments: {
      create_directory: { path: join(folder, 'made') },
      directory_tree: { path: folder },
      edit_file: { path, edits: [{ oldText: 'two', newText: '2' }] },
      get_file_info: { path },
      list_directory: { path: folder },
      list_directory_with_sizes: { path: folder },
      move_file: { source: path, destination: join(folder, 'c.txt') },
      read_file: { path: other },
      read_media_file: { path: join(folder, 'pixel.png') },
      read_multiple_files: { paths: [other, join(folder, 'c.txt'), join(folder, 'none')] },
      read_text_file: { path: join(folder, 'c.txt'), head: 2 },
      search_files: { path: folder, pattern: '**/*.txt' },
      write_file: { path: join(folder, 'd.txt'), content: 'written' },
    },
  };
}

describe('unknown names', () => {
  const asked = {
    'tools/call': { name: 'unknown-name', arguments: {} },
    'prompts/get': { name: 'unknown-name' },
    'resources/read': { uri: 'unknown://name/this' },
  };
  const CODES = { '2025-11-25': [-32602, -32602, -32002], '2026-07-28': [-32602, -32602, -32602] } as const;

  for (const era of ERAS) {
    const id = era === '2026-07-28' ? 'choice.error.resource-not-found-modern' : 'choice.error.unknown-tool';
    proves(id, `are the gateway's to refuse: by the codes of ${era}, whatever servers do`, async () => {
      const server = ending(await startConformanceServer());
      const through = await throughGateway(server, era, {});
      const codes = [];
      for (const [method, params] of Object.entries(asked)) {
        codes.push((await through.request(method, params)).error?.code);
      }
      expect(codes).toEqual(CODES[era]);
    });
  }
});
