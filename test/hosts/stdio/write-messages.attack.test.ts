import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { createMessageWriter } from '../../../hosts/stdio/write-messages.ts';

it('a client that does not read ends the connection at a limit, which is told apart from a closed end', () => {
  const slow = createMessageWriter(new PassThrough({ highWaterMark: 1 }), { highBytes: 10, mostBytes: 1_000 });
  for (let count = 0; count < 100 && !slow.ended.aborted; count++) slow.write([Buffer.alloc(100, 'x')]);
  expect(slow).toMatchObject({ isTooSlow: true, ended: { aborted: true } });
  expect(slow.pendingBytes).toBeLessThan(2_000);

  const output = new PassThrough();
  const closed = createMessageWriter(output, { highBytes: 10, mostBytes: 1_000 });
  output.emit('close');
  expect(closed).toMatchObject({ isTooSlow: false, ended: { aborted: true } });
});
