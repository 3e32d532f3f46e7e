import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { BYTES_FILE, bytesFileText } from '../../../../scripts/wasm.ts';

it('equals the build of its WebAssembly text', async () => {
  expect(readFileSync(BYTES_FILE, 'utf8')).toBe(await bytesFileText());
});
