import { GatewayFault, isObject, type JsonObject } from '@toolmgr/core';
import {
  createEmbeddingService,
  inBatches,
  MAX_BATCH,
  serviceUrlProblem,
  unitVectors,
} from '@toolmgr/plugins/kit/embedding';
import type { Embedder, EmbedderSettings } from '@toolmgr/plugins/kit/extension-points';

const DEFAULT_BATCH = 32;

/**
 * A client of text-embeddings-inference: `GET /info` returns the model and the batch size, `POST /embed` embeds. A server
 * without `/info` gets batches of 32, and a change of its model is not noticed.
 * @throws GatewayFault PLAN_INVALID without a usable base URL
 */
export function openTei({ service, headers, timeoutMs }: EmbedderSettings): Embedder {
  const problem = service === undefined ? 'expected a base URL' : serviceUrlProblem(service);
  if (service === undefined || problem !== undefined) {
    throw new GatewayFault('PLAN_INVALID', `optimizer/embed-tei: embeddingService: ${problem}`);
  }
  const http = createEmbeddingService(service, { headers, timeoutMs });
  let batch = DEFAULT_BATCH;
  return {
    async identity(signal) {
      const response = await http.get('/info', signal);
      const info: JsonObject = isObject(response) ? response : {};
      batch = batchFrom(info.max_client_batch_size);
      return JSON.stringify(['tei', service, info.model_id ?? null, info.model_sha ?? null]);
    },
    embed: (texts, signal) =>
      inBatches(texts, batch, async (inputs) => {
        const response = await http.post('/embed', { inputs, truncate: true }, inputs.length, signal);
        return unitVectors(response, inputs.length, 'POST /embed');
      }),
    close: () => http.close(),
  };
}

function batchFrom(response: unknown): number {
  return Number.isInteger(response) && Number(response) > 0 ? Math.min(Number(response), MAX_BATCH) : DEFAULT_BATCH;
}
