import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FakeServer, fakeServer, type TestGateway } from '@toolmgr/core/testing';
import { afterEach, describe, expect, it } from 'vitest';
import search from '../../../../plugins/optimizer/search/index.ts';
import tools from '../../../../plugins/optimizer/tools/index.ts';
import { PARAPHRASES } from '../../../../plugins/optimizer/tools/paraphrases.ts';
import { probeTexts } from '../../../../plugins/optimizer/tools/script-support.ts';
import { type EmbeddingServer, embeddingServer } from '../../../support/embedding-server.ts';
import { find, names, optimized, type Settings, STATE, sdkClient } from '../../../support/optimized-gateway.ts';
import { pluginCore } from '../../../support/plugin-core.ts';
import { proves } from '../../../support/proves.ts';
import { until } from '../../../support/until.ts';

const FOLDER = join(STATE, 'optimizer');
const LONG = 120_000;

const office = (): FakeServer =>
  fakeServer()
    .tool('send_letter', 'x', { description: 'Sends a letter' })
    .tool('draw_chart', 'x', { description: 'Draws a chart' })
    .tool('delete_row', 'x', { description: 'Deletes a row' })
    .tool('read_file', 'x', { description: 'Reads a file' });

type Client = Awaited<ReturnType<typeof sdkClient>>;

/** Waits until a result has no notice: then the tools are embedded. */
const embedded = (client: Client) => until(async () => (await find(client, 'anything')).notice === undefined);

async function served(
  server: EmbeddingServer,
  settings: Settings = {},
  far = office(),
): Promise<{ kit: TestGateway; client: Client; [Symbol.asyncDispose](): PromiseLike<void> }> {
  const kit = await optimized({ embeddingService: server.url, ...settings }, { far });
  return { kit, client: await sdkClient(kit), [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() };
}

const passages = ({ requests }: EmbeddingServer) =>
  requests.flatMap(({ texts }) => texts).filter((text) => text.startsWith('far:'));

afterEach(() => rmSync(FOLDER, { recursive: true, force: true }));

describe('semantic search', () => {
  it('finds tools without any word of the query', async () => {
    await using server = await embeddingServer();
    await using words = await optimized({}, { far: office() });
    expect(await names(await sdkClient(words), 'correspondence')).not.toContain('send_letter');
    await using it = await served(server);
    await embedded(it.client);
    expect((await names(it.client, 'correspondence'))[0]).toBe('send_letter');
    expect((await names(it.client, 'visualisation'))[0]).toBe('draw_chart');
  });

  proves(
    ['vmcp.optimizer.semantic-ratio-ends', 'vmcp.optimizer.semantic-ratio'],
    'is used alone with ratio 1, and not at all with ratio 0',
    async () => {
      await using server = await embeddingServer();
      await using none = await served(server, { hybridSearchSemanticRatio: '0.0' });
      expect(await names(none.client, 'correspondence')).not.toContain('send_letter');
      expect((await find(none.client, 'correspondence')).notice).toBeUndefined();
      expect(server.requests).toEqual([]);
      await using all = await served(server, { hybridSearchSemanticRatio: '1.0' });
      await embedded(all.client);
      expect((await names(all.client, 'correspondence'))[0]).toBe('send_letter');
    },
  );

  proves(
    ['vmcp.optimizer.distance-threshold', 'vmcp.optimizer.distance-threshold-semantic-only'],
    'finds nothing above the distance, and keeps keyword matches',
    async () => {
      await using server = await embeddingServer();
      await using it = await served(server, { semanticDistanceThreshold: '0' });
      await embedded(it.client);
      expect(await names(it.client, 'correspondence')).not.toContain('send_letter');
      expect((await names(it.client, 'draws a chart'))[0]).toBe('draw_chart');
    },
  );

  proves(
    'choice.optimizer.unread-script',
    'uses keywords only for a script that the model cannot read, and tests each script once',
    async () => {
      const far = office().tool('shanchu', 'x', { description: '删除一个文件' });
      const probed = ({ requests }: EmbeddingServer) =>
        requests.flatMap(({ texts }) => texts).filter((text) => text === probeTexts('Han')[0]).length;
      await using server = await embeddingServer();
      {
        await using it = await served(server, {}, far);
        await embedded(it.client);
        for (const text of ['把文件删除', '删除行', '把文件删除']) {
          const { tools, notice } = await find(it.client, text);
          expect(tools.map(({ name }) => name)).toEqual(['shanchu']);
          expect(notice).toBe('found by keywords only, not by meaning: the embedding model cannot read Han script');
        }
        expect(probed(server)).toBe(1);
        expect(it.kit.logged.join()).toMatch(/cannot read a script/);
        const asked = server.requests.length;
        await find(it.client, '删除所有文件');
        expect(server.requests.length).toBe(asked);
        expect((await find(it.client, 'correspondence')).notice).toBeUndefined();
      }
      server.model = { id: 'of all languages', dimensions: 64, alike: PARAPHRASES.Han };
      await using it = await served(server, {}, far);
      await embedded(it.client);
      expect((await find(it.client, '把文件删除')).notice).toBeUndefined();
      expect((await find(it.client, '删除行')).notice).toBeUndefined();
      expect(probed(server)).toBe(2);
      expect((await find(it.client, 'удали файл')).notice).toMatch(/cannot read Cyrillic script/);
    },
    LONG,
  );

  proves(
    'choice.optimizer.cache',
    'persists vectors, in a file that only its owner can read',
    async () => {
      await using server = await embeddingServer();
      {
        await using it = await served(server);
        await embedded(it.client);
        expect(passages(server)).toHaveLength(4);
      }
      const [file = '', ...others] = readdirSync(FOLDER);
      expect(others).toEqual([]);
      expect(statSync(join(FOLDER, file)).mode & 0o777).toBe(0o600);
      expect(statSync(FOLDER).mode & 0o777).toBe(0o700);
      {
        await using it = await served(server, {}, office().tool('add_numbers', 'x', { description: 'Adds numbers' }));
        await embedded(it.client);
        await until(() => passages(server).length === 5); // only the new one
        expect((await names(it.client, 'correspondence'))[0]).toBe('send_letter');
      }
      // an incomplete file is ignored
      const whole = readFileSync(join(FOLDER, file));
      for (const bytes of [
        whole.subarray(0, -5),
        Buffer.concat([whole.subarray(0, -1), Buffer.from([(whole.at(-1) ?? 0) ^ 1])]),
        Buffer.from('x'),
      ]) {
        writeFileSync(join(FOLDER, file), bytes);
        const before = passages(server).length;
        await using it = await served(server);
        await embedded(it.client);
        expect(passages(server).length - before).toBe(4);
        expect(it.kit.logged.join()).toMatch(/embedding cache cannot be read/);
      }
    },
    LONG,
  );

  it('embeds once for all sessions, and later only new tools', async () => {
    await using server = await embeddingServer();
    await using it = await served(server);
    await embedded(it.client);
    for (let at = 0; at < 3; at++) await names(await sdkClient(it.kit), 'correspondence');
    expect(passages(server)).toHaveLength(4);
    it.kit.setBackends({ far: office(), other: fakeServer().tool('pay', 'x', { description: 'Pays a bill' }) });
    await until(async () => (await names(it.client, 'invoice'))[0] === 'pay');
    expect(passages(server)).toHaveLength(4);
    expect(server.requests.flatMap(({ texts }) => texts).filter((text) => text.startsWith('other:'))).toHaveLength(1);
  });

  proves(
    'choice.optimizer.degrades',
    'uses keywords while the embedder is unavailable, with a notice, and recovers by itself',
    async () => {
      const server = await embeddingServer();
      await using it = await served(server);
      await embedded(it.client);
      await server[Symbol.asyncDispose]();
      const { tools, notice } = await find(it.client, 'draw some chart now');
      expect(tools[0]?.name).toBe('draw_chart');
      expect(notice).toBe('found by keywords only, not by meaning: the embedding service does not answer');
      const started = performance.now();
      for (let at = 0; at < 20; at++) await find(it.client, `draw chart ${at}`);
      expect(performance.now() - started).toBeLessThan(15_000); // no search waits for a service that is known to be unavailable
      await using back = await embeddingServer(server.port);
      await until(async () => (await find(it.client, `correspondence`)).notice === undefined);
      expect((await names(it.client, 'correspondence'))[0]).toBe('send_letter');
      expect(back.requests.length).toBeGreaterThan(0);
      expect(it.kit.logged.filter((line) => line.includes('the embedder is unavailable'))).toHaveLength(1);
    },
    LONG,
  );

  proves(
    'choice.optimizer.degrades',
    'starts without its embedder, and embeds when it is available',
    async () => {
      const place = await embeddingServer();
      await place[Symbol.asyncDispose]();
      await using it = await served(place);
      expect((await find(it.client, 'draw a chart')).notice).toMatch(/keywords only/);
      await using server = await embeddingServer(place.port);
      await embedded(it.client);
      expect((await names(it.client, 'correspondence'))[0]).toBe('send_letter');
      expect(server.requests.length).toBeGreaterThan(0);
    },
    LONG,
  );

  it(
    'embeds everything again for another model',
    async () => {
      const server = await embeddingServer();
      await using it = await served(server);
      await embedded(it.client);
      await server[Symbol.asyncDispose]();
      expect((await find(it.client, 'a new question')).notice).toBeDefined();
      await using other = await embeddingServer(server.port);
      other.model = { id: 'larger', dimensions: 96 };
      await until(async () => (await find(it.client, 'correspondence')).notice === undefined);
      expect((await names(it.client, 'correspondence'))[0]).toBe('send_letter');
      expect(passages(other)).toHaveLength(4);
      expect(readdirSync(FOLDER)).toHaveLength(2);
    },
    LONG,
  );

  it(
    'notices a changed model with the same identity',
    async () => {
      await using server = await embeddingServer();
      await using it = await served(server);
      await embedded(it.client);
      server.model = { ...server.model, dimensions: 96 };
      expect((await find(it.client, 'unasked so far')).notice).toMatch(/by another model/);
      await until(async () => (await find(it.client, 'correspondence, please')).notice === undefined);
      expect((await names(it.client, 'correspondence'))[0]).toBe('send_letter');
    },
    LONG,
  );

  proves('choice.optimizer.words-only-said-once', 'logs once at the start that there is no embedder', async () => {
    const core = pluginCore();
    search.apply(core, {});
    tools.apply(core, tools.config.parse({}));
    await core.hooks.starting.promise();
    expect(core.lines.map(({ message }) => message)).toEqual(['the optimizer finds tools by keywords only']);
    await core.hooks.stopping.promise();
  });

  proves('vmcp.optimizer.embedding-provider', 'supports both protocols', async () => {
    await using server = await embeddingServer();
    await using it = await served(server, { embeddingProvider: 'openai', embeddingModel: 'm' });
    await embedded(it.client);
    expect((await names(it.client, 'correspondence'))[0]).toBe('send_letter');
    expect(new Set(server.requests.map(({ path }) => path))).toEqual(new Set(['/embeddings']));
  });
});
