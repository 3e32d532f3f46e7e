import { definePlugin } from '@toolmgr/core';
import { embedders } from '@toolmgr/plugins/kit/extension-points';
import { readOptionalSecret } from '@toolmgr/plugins/kit/secrets';
import { z } from 'zod';
import { openEmbeddingsApi } from './embeddings-api.ts';

/** Source: vmcp spec §2 optimizer. */
const KEY = 'EMBEDDING_API_KEY';

/** Embedder `openai`: any service with the `/embeddings` API. */
export default definePlugin({
  address: 'optimizer/embed-openai',
  stability: 'alpha',
  summary: 'turns texts into vectors by any service with the `/embeddings` API of OpenAI; key in `EMBEDDING_API_KEY`',
  config: z.strictObject({}),
  apply(core) {
    core.slot(embedders).register('openai', {
      async open(settings) {
        const key = await readOptionalSecret(core.slots, KEY);
        return openEmbeddingsApi(settings, key?.reveal().trim() ?? '');
      },
    });
  },
});
