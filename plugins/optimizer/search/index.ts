import { definePlugin } from '@toolmgr/core';
import { z } from 'zod';
import { createSearcher } from './searcher.ts';

const ADDRESS = 'optimizer/search';

/** Searcher `hybrid`: ranks tools by their words, and by their meaning where vectors are given. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'ranks tools by words and by meaning',
  config: z.strictObject({}),
  apply(core) {
    core.slots.searchers.register('hybrid', createSearcher());
  },
});
