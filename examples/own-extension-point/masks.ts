import { definePlugin, defineSlot, type JsonObject, resultFromValue } from '@toolmgr/core';
import { z } from 'zod';

/** Replaces what it finds in a text. */
export type Mask = (text: string) => string;

/** Masks by name. A plugin of yours registers one, and a file uses it by its name. */
export const masks = defineSlot<Mask>('masks');

const config = z.strictObject({ use: z.array(z.string()).min(1).describe('names of masks, in their order') });

export default definePlugin({
  address: 'masks',
  summary: 'masks texts of results',
  contractKey: 'masks',
  config,
  apply(core, { use }) {
    let chosen: readonly Mask[] = [];
    // not in apply: a plugin that comes later in the plan has not registered its mask yet
    core.hooks.starting.tap('masks', () => {
      chosen = use.map((name) => core.slot(masks).get(name));
    });
    core.hooks.rewriteResult.tap('masks', (result) => {
      const text = result.bytes.toString('utf8');
      const masked = chosen.reduce((each, mask) => mask(each), text);
      // an unchanged result keeps the bytes of the backend
      return masked === text ? result : resultFromValue(JSON.parse(masked) as JsonObject);
    });
  },
});
