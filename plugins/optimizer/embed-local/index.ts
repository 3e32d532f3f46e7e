import { definePlugin } from '@toolmgr/core';
import { embedders } from '@toolmgr/plugins/kit/extension-points';
import { z } from 'zod';

import { openLocalModel } from './local-model.ts';

/** Embedder `local`: a model that runs in this process, from a folder. */
export default definePlugin({
  address: 'optimizer/embed-local',
  stability: 'alpha',
  summary: 'turns texts into vectors by a model from a folder, in this process (package `@huggingface/transformers`)',
  config: z.strictObject({}),
  apply(core) {
    core.slot(embedders).register('local', { open: openLocalModel });
  },
});
