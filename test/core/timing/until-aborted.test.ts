import { untilAborted } from '@toolmgr/core';
import { expect, it } from 'vitest';

it('waits until a signal aborts, and not for one that has', async () => {
  const controller = new AbortController();
  let isOver = false;
  const waiting = untilAborted(controller.signal).then(() => {
    isOver = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isOver).toBe(false);
  controller.abort();
  await waiting;
  await untilAborted(controller.signal);
  expect(isOver).toBe(true);
});
