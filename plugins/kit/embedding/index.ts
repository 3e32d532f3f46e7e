/** HTTP services that turn texts into vectors, for plugins that embed texts. */
export {
  createEmbeddingService,
  type EmbeddingService,
  inBatches,
  MAX_BATCH,
  serviceUrlProblem,
  unitVectors,
} from './embedding-service.ts';
