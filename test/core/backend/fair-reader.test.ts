import { expect, it } from 'vitest';
import { FairReader } from '../../../core/backend/transports/fair-reader.ts';

it('a stream is paused for one turn of the event loop after every 64 KiB', async () => {
  const did: string[] = [];
  const stream = { pause: () => did.push('pause'), resume: () => did.push('resume') };
  const pace = new FairReader();
  pace.took(40_000, stream);
  expect(did).toEqual([]);
  pace.took(40_000, stream);
  pace.took(1_000, stream);
  expect(did).toEqual(['pause']);
  await new Promise((resolve) => setImmediate(resolve));
  expect(did).toEqual(['pause', 'resume']);
  pace.took(64_536, stream);
  expect(did).toEqual(['pause', 'resume', 'pause']);
});
