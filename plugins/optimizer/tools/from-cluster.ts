import { CONNECTION_FIELDS, FIELD_NAME, isObject } from '@toolmgr/core';
import { type Addition, type FromCluster, forbidden, type Rule, requires } from '@toolmgr/plugins/kit/kubernetes';

/** Headers that the gateway sets itself in requests to an embedding service. */
const OWN_HEADERS = ['authorization', 'content-type', ...CONNECTION_FIELDS];
/** `FIELD_NAME` as a text of CEL, which reads no escaped hyphen. */
const NAME = `"${FIELD_NAME.source.replace('\\-', '').replace(']+$', '-]+$')}"`;
/** Further headers of requests to an embedding service. */
const MAX_EMBEDDING_HEADERS = 32;

/** Source: vmcp spec §2 optimizer. */
const OPTIMIZER_RULES: readonly Rule[] = [
  forbidden(
    'embeddingHeaders',
    "size(self.embeddingHeaders) == 0 || self.embeddingProvider == 'openai'",
    'embeddingHeaders are for embeddingProvider openai only',
  ),
  requires('embeddingService', "self.embeddingProvider == 'openai'", 'embeddingService is required for openai'),
  requires('embeddingModel', "self.embeddingProvider in ['openai', 'local']", 'embeddingModel is required'),
  forbidden('embeddingService', "self.embeddingProvider != 'local'", 'embeddingService has no effect with local'),
];

const EMBEDDING_HEADERS: Addition = {
  maxProperties: MAX_EMBEDDING_HEADERS,
  rules: [
    {
      rule: `self.all(name, name.matches(${NAME}) && !name.matches('^(?i:${OWN_HEADERS.join('|')})$'))`,
      message: 'must be names of headers, without Authorization, Content-Type and those of the connection',
    },
  ],
};

export const rules: FromCluster['rules'] = {
  within: { '': { rules: OPTIMIZER_RULES }, embeddingHeaders: EMBEDDING_HEADERS },
};

const CONDITION = 'EmbeddingServerReady';
const WITHOUT_SERVICE =
  'spec.embeddingServerRef: missing; the optimizer needs it, or spec.config.optimizer.embeddingService with the URL of a service';

/** `spec.embeddingServerRef` switches the optimizer on. */
export const section: FromCluster['section'] = {
  isFirst: true,
  async of(written, server) {
    const given = isObject(written) ? written : undefined;
    const ref = server.spec.embeddingServerRef as { readonly name: string } | undefined;
    if (ref === undefined) {
      if (given === undefined) return {};
      if (given.embeddingService === undefined) {
        // an embedding model in the pod needs no service
        if (given.embeddingProvider === 'local') return { section: given };
        server.fail('Valid', 'ValidationFailed', WITHOUT_SERVICE);
        return undefined;
      }
      const message =
        'spec.config.optimizer.embeddingService is used as it is; spec.embeddingServerRef names a managed server';
      server.warn('EmbeddingServiceManual', message);
      return { section: given };
    }
    if (given?.embeddingProvider !== undefined && given.embeddingProvider !== 'tei') {
      const message = `spec.embeddingServerRef: cannot be combined with spec.config.optimizer.embeddingProvider ${String(given.embeddingProvider)}`;
      server.fail('Valid', 'ValidationFailed', message);
      return undefined;
    }
    const found = await server.find('EmbeddingServer', ref.name, 'spec.embeddingServerRef');
    if (found.is !== 'valid') {
      server.fail(CONDITION, 'EmbeddingServerNotFound', found.message, 'EmbeddingServerRefNotFound');
      return undefined;
    }
    const { phase, url } = (found.status ?? {}) as { readonly phase?: string; readonly url?: string };
    if (phase === 'Failed') {
      server.fail(CONDITION, 'EmbeddingServerNotReady', `EmbeddingServer ${ref.name} has failed`);
      return undefined;
    }
    if (phase !== 'Ready' || url === undefined) {
      server.wait(CONDITION, 'EmbeddingServerNotReady', `EmbeddingServer ${ref.name} is not ready yet`);
      return undefined;
    }
    server.tell(CONDITION, 'True', 'EmbeddingServerReady', `EmbeddingServer ${ref.name} is ready`);
    if (given?.embeddingService !== undefined && given.embeddingService !== url) {
      const message = `spec.config.optimizer.embeddingService is overridden by EmbeddingServer ${ref.name} (${url})`;
      server.warn('EmbeddingServiceOverridden', message);
    }
    return { section: { ...given, embeddingService: url } };
  },
};
