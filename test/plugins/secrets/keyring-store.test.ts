import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { keyringAbsence, withKeyring } from '../../support/keyring.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const absence = keyringAbsence();

it.skipIf(absence)(
  `keeps secrets in a keyring, and only their names in a file${absence ? ` (skipped: ${absence})` : ''}`,
  async () => {
    const folder = temporaryFolder('keyring-store');
    const path = join(folder, 'names.json');
    const user = join(import.meta.dirname, 'keyring-store-user.ts');
    const { code, out } = await withKeyring('exec "$1" --conditions=development "$2" "$3"', [
      process.execPath,
      user,
      path,
    ]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual([
      'written',
      'exists',
      'missing',
      'written',
      'value 3',
      ['TOKEN'],
      true,
      false,
      'none',
    ]);
    expect(await readFile(path, 'utf8')).not.toContain('value');
  },
);
