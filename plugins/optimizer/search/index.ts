import { definePlugin } from '@toolmgr/core';
import { z } from 'zod';
import { createSearcher } from './searcher.ts';

const ADDRESS = 'optimizer/search';

/** Searcher `hybrid`: ranks tools by keywords, and by vectors when there are any. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'ranks tools by keywords and by meaning (vectors)',
  config: z.strictObject({}),
  apply(core) {
    core.slots.searchers.register('hybrid', createSearcher());
  },
});
