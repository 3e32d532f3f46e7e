import { definePlugin } from '@toolmgr/core';
import { embedders } from '@toolmgr/plugins/kit/extension-points';
import { z } from 'zod';

import { openTei } from './tei.ts';

/** Embedder `tei`: a server of the text-embeddings-inference protocol. */
export default definePlugin({
  address: 'optimizer/embed-tei',
  stability: 'alpha',
  summary: 'turns texts into vectors by a server of the text-embeddings-inference protocol',
  config: z.strictObject({}),
  apply(core) {
    core.slot(embedders).register('tei', { open: async (settings) => openTei(settings) });
  },
});
