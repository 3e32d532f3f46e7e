import { GatewayFault, isObject, type JsonObject } from '@toolmgr/core';
import {
  createEmbeddingService,
  inBatches,
  MAX_BATCH,
  serviceUrlProblem,
  unitVectors,
} from '@toolmgr/plugins/kit/embedding';
import type { Embedder, EmbedderSettings } from '@toolmgr/plugins/kit/extension-points';

const ADDRESS = 'optimizer/embed-openai';

/**
 * A client of the embeddings API: `POST {base}/embeddings` with a model and texts. Without a key no `Authorization` is sent.
 * @throws GatewayFault PLAN_INVALID without base URL or model, or with a key that is no valid header value
 */
export function openEmbeddingsApi({ service, model, headers, timeoutMs }: EmbedderSettings, key: string): Embedder {
  const problem = service === undefined ? 'expected a base URL' : serviceUrlProblem(service);
  if (service === undefined || problem !== undefined) throw invalidConfig(`embeddingService: ${problem}`);
  if (model === undefined) throw invalidConfig('embeddingModel: expected the name of a model');
  if (!/^[\x21-\x7e]*$/.test(key)) throw invalidConfig('EMBEDDING_API_KEY has characters that a header cannot carry');
  const authorization: Record<string, string> = key === '' ? {} : { authorization: `Bearer ${key}` };
  const http = createEmbeddingService(service, { headers: { ...headers, ...authorization }, timeoutMs });
  return {
    identity: async () => JSON.stringify(['openai', service, model]),
    embed: (texts, signal) =>
      inBatches(texts, MAX_BATCH, async (input) => {
        const body = { model, input, encoding_format: 'float' };
        const response = await http.post('/embeddings', body, input.length, signal);
        return unitVectors(inOrder(response, input.length), input.length, 'POST /embeddings');
      }),
    close: () => http.close(),
  };
}

/** Sorts the vectors by `index`: services may answer in any order. */
function inOrder(response: unknown, count: number): readonly unknown[] {
  const data: readonly unknown[] = isObject(response) && Array.isArray(response.data) ? response.data : [];
  const rows = new Array<unknown>(count);
  for (const item of data.slice(0, count)) {
    const { index, embedding } = (isObject(item) ? item : {}) as JsonObject;
    if (Number.isInteger(index) && Number(index) >= 0 && Number(index) < count) rows[Number(index)] = embedding;
  }
  return data.length === count ? rows : [];
}

function invalidConfig(why: string): GatewayFault {
  return new GatewayFault('PLAN_INVALID', `${ADDRESS}: ${why}`);
}
