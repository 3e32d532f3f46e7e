import { type Embedder, type EmbedderSettings, GatewayFault, isObject, type JsonObject } from '@toolmgr/core';
import {
  createEmbeddingService,
  inBatches,
  MAX_BATCH,
  serviceUrlProblem,
  unitVectors,
} from '../embedding/embedding-service.ts';

const DEFAULT_BATCH = 32;

/**
 * Speaks text-embeddings-inference: `GET /info` says which model is there and how large a batch may be, `POST /embed`
 * embeds. A server without `/info` gets batches of 32, and its model counts as the same for ever.
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
      const said = await http.get('/info', signal);
      const info: JsonObject = isObject(said) ? said : {};
      batch = batchFrom(info.max_client_batch_size);
      return JSON.stringify(['tei', service, info.model_id ?? null, info.model_sha ?? null]);
    },
    embed: (texts, signal) =>
      inBatches(texts, batch, async (inputs) => {
        const said = await http.post('/embed', { inputs, truncate: true }, inputs.length, signal);
        return unitVectors(said, inputs.length, 'POST /embed');
      }),
    close: () => http.close(),
  };
}

function batchFrom(said: unknown): number {
  return Number.isInteger(said) && Number(said) > 0 ? Math.min(Number(said), MAX_BATCH) : DEFAULT_BATCH;
}
