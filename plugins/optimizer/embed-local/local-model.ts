import { access, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { explainCause, GatewayFault } from '@toolmgr/core';
import { inBatches, unitVectors } from '@toolmgr/plugins/kit/embedding';
import type { Embedder, EmbedderSettings } from '@toolmgr/plugins/kit/extension-points';

const ADDRESS = 'optimizer/embed-local';
const PACKAGE = '@huggingface/transformers';
const BATCH = 16;
/** Weights in order of preference, by the library's `dtype`. */
const WEIGHTS = { fp32: 'model.onnx', q8: 'model_quantized.onnx' } as const;

/** The used part of the package. It is an optional peer because it takes 470 MB, so its types are not available. */
interface Transformers {
  readonly env: {
    allowRemoteModels: boolean;
    allowLocalModels: boolean;
    localModelPath: string;
    useFSCache: boolean;
  };
  pipeline(task: 'feature-extraction', model: string, options: object): Promise<Extractor>;
}

interface Extractor {
  (texts: readonly string[], options: object): Promise<{ tolist(): unknown }>;
  dispose(): Promise<unknown>;
}

/**
 * Loads a model: a folder with `config.json`, `tokenizer.json`, `tokenizer_config.json` and `onnx/model.onnx` or
 * `onnx/model_quantized.onnx`. Nothing is downloaded.
 * @throws GatewayFault PLAN_INVALID that names the missing file or package
 */
export async function openLocalModel(
  { model }: EmbedderSettings,
  load: () => Promise<Transformers> = () => import(PACKAGE) as Promise<Transformers>,
): Promise<Embedder> {
  if (model === undefined) throw invalidConfig('embeddingModel: expected the folder of a model');
  const folder = resolve(model);
  const dtype = await weightsIn(folder);
  const extract = await extractorOf(folder, dtype, load);
  const { size, mtimeMs } = await stat(join(folder, 'onnx', WEIGHTS[dtype]));
  return {
    identity: async () => JSON.stringify(['local', folder, dtype, size, mtimeMs]),
    embed: (texts, signal) =>
      inBatches(texts, BATCH, async (batch) => {
        signal.throwIfAborted();
        const rows = (await extract(batch, { pooling: 'mean', normalize: true })).tolist();
        return unitVectors(rows, batch.length, folder);
      }),
    close: async () => void (await extract.dispose()),
  };
}

async function weightsIn(folder: string): Promise<keyof typeof WEIGHTS> {
  for (const file of ['config.json', 'tokenizer.json', 'tokenizer_config.json']) {
    await access(join(folder, file)).catch(() => {
      throw invalidConfig(`embeddingModel: there is no ${file} in ${folder}`);
    });
  }
  for (const dtype of ['fp32', 'q8'] as const) {
    const isThere = await access(join(folder, 'onnx', WEIGHTS[dtype])).then(
      () => true,
      () => false,
    );
    if (isThere) return dtype;
  }
  throw invalidConfig(`embeddingModel: there is neither onnx/model.onnx nor onnx/model_quantized.onnx in ${folder}`);
}

async function extractorOf(folder: string, dtype: string, load: () => Promise<Transformers>): Promise<Extractor> {
  const transformers = await load().catch((cause: unknown) => {
    throw invalidConfig(`a local model needs ${PACKAGE}: ${explainCause(cause)}`, cause);
  });
  Object.assign(transformers.env, {
    allowRemoteModels: false,
    allowLocalModels: true,
    localModelPath: dirname(folder),
    useFSCache: false,
  });
  return transformers.pipeline('feature-extraction', basename(folder), { dtype, device: 'cpu' }).catch((cause) => {
    throw invalidConfig(`the model in ${folder} cannot be loaded: ${explainCause(cause)}`, cause);
  });
}

function invalidConfig(why: string, cause?: unknown): GatewayFault {
  return new GatewayFault('PLAN_INVALID', `${ADDRESS}: ${why}`, cause === undefined ? {} : { cause });
}
