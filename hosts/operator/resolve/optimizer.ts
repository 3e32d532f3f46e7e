import { isObject } from '@toolmgr/core';
import { embeddingServer } from '../kinds/embedding-server.ts';
import type { Context, Section } from './context.ts';

const CONDITION = 'EmbeddingServerReady';
const WITHOUT_SERVICE =
  'spec.embeddingServerRef: missing; the optimizer needs it, or spec.config.optimizer.embeddingService with the URL of a service';

/**
 * `optimizer` of the vmcp file; `spec.embeddingServerRef` switches the optimizer on. `undefined`: a check failed, or the server is
 * not ready.
 */
export function optimizerOf({ spec, lookups, findings }: Context): { readonly section?: Section } | undefined {
  const written = spec.config?.optimizer;
  const given: Section | undefined = isObject(written) ? written : undefined;
  const ref = spec.embeddingServerRef;
  if (ref === undefined) {
    if (given === undefined) return {};
    if (given.embeddingService === undefined) {
      // an embedding model in the pod needs no service
      if (given.embeddingProvider === 'local') return { section: given };
      findings.fail('Valid', 'ValidationFailed', WITHOUT_SERVICE);
      return undefined;
    }
    const message =
      'spec.config.optimizer.embeddingService is used as it is; spec.embeddingServerRef names a managed server';
    findings.warn('EmbeddingServiceManual', message);
    return { section: given };
  }
  if (given?.embeddingProvider !== undefined && given.embeddingProvider !== 'tei') {
    const message = `spec.embeddingServerRef: cannot be combined with spec.config.optimizer.embeddingProvider ${String(given.embeddingProvider)}`;
    findings.fail('Valid', 'ValidationFailed', message);
    return undefined;
  }
  const found = lookups.find(embeddingServer, ref.name, 'spec.embeddingServerRef');
  if (found.is !== 'valid') {
    findings.fail(CONDITION, 'EmbeddingServerNotFound', found.message, 'EmbeddingServerRefNotFound');
    return undefined;
  }
  const { phase, url } = found.object.status ?? {};
  if (phase === 'Failed') {
    findings.fail(CONDITION, 'EmbeddingServerNotReady', `EmbeddingServer ${ref.name} has failed`);
    return undefined;
  }
  if (phase !== 'Ready' || url === undefined) {
    findings.wait(CONDITION, 'EmbeddingServerNotReady', `EmbeddingServer ${ref.name} is not ready yet`);
    return undefined;
  }
  findings.tell(CONDITION, 'True', 'EmbeddingServerReady', `EmbeddingServer ${ref.name} is ready`);
  if (given?.embeddingService !== undefined && given.embeddingService !== url) {
    const message = `spec.config.optimizer.embeddingService is overridden by EmbeddingServer ${ref.name} (${url})`;
    findings.warn('EmbeddingServiceOverridden', message);
  }
  return { section: { ...given, embeddingService: url } };
}
