import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readCaBundle } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { certificates } from '../../support/certificates.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

describe('certificates of authorities', () => {
  it('are read from a file, and a file without one is named', async () => {
    const folder = temporaryFolder('ca');
    const { ca } = certificates();
    await writeFile(join(folder, 'ca.crt'), `Some words\n${ca}`);
    await writeFile(join(folder, 'empty.crt'), 'nothing');
    await writeFile(join(folder, 'torn.crt'), ca.replace(/\n.{20}/, '\n'));
    expect(readCaBundle(join(folder, 'ca.crt'), 'x.caBundlePath')).toBe(ca.trim());
    for (const name of ['empty.crt', 'torn.crt', 'none.crt']) {
      const sentence = new RegExp(`^x\\.caBundlePath: cannot use .*${name}: `);
      expect(() => readCaBundle(join(folder, name), 'x.caBundlePath')).toThrow(sentence);
    }
  });
});
