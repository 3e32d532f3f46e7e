import { definePlugin } from '@toolmgr/core';
import { z } from 'zod';
import { masks } from './masks.ts';

const ADDRESS = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;

export default definePlugin({
  address: 'mail-mask',
  summary: 'the mask `mail` for mail addresses',
  config: z.strictObject({}),
  apply(core) {
    core.slot(masks).register('mail', (text) => text.replace(ADDRESS, '[mail address]'));
  },
});
