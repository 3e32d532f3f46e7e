import { readdirSync } from 'node:fs';
import { createLog } from '@toolmgr/core';
import { expect } from 'vitest';
import { openVectorCache } from '../../../../plugins/optimizer/tools/vector-cache.ts';
import { proves } from '../../../support/proves.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const log = createLog('error', () => {});

proves('choice.optimizer.cache', 'keeps the files of eight models', async () => {
  const folder = temporaryFolder('vectors');
  for (let at = 0; at < 10; at += 1) {
    const cache = await openVectorCache({ folder, identity: `model ${at}`, log });
    cache.set('text', Float32Array.of(1, 0));
    await cache.save();
  }
  expect(readdirSync(folder)).toHaveLength(8);
});

proves('choice.optimizer.cache', 'persists the most recent 64 MB of one model', async () => {
  const folder = temporaryFolder('vectors');
  const cache = await openVectorCache({ folder, identity: 'large', log });
  const fits = Math.floor((64 * 1_048_576) / (32 + 8_000 * 4)); // the head of the file fits into the rest
  for (let at = 0; at <= fits; at += 1) cache.set(`text ${at}`, new Float32Array(8_000).fill(at));
  expect([cache.get('text 0'), cache.get('text 1')?.[0], cache.get(`text ${fits}`)?.[7_999]]).toEqual([
    undefined,
    1,
    fits,
  ]);
  await cache.save();
  const again = await openVectorCache({ folder, identity: 'large', log });
  expect([again.get('text 0'), again.get('text 1')?.[0], again.get(`text ${fits}`)?.[7_999]]).toEqual([
    undefined,
    1,
    fits,
  ]);
});
