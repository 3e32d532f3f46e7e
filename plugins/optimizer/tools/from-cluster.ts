import { CONNECTION_FIELDS, FIELD_NAME } from '@toolmgr/core';
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
