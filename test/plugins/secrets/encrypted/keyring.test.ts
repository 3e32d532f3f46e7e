import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keyringAbsence, withKeyring } from '../../../support/keyring.ts';

const USER = join(import.meta.dirname, 'keyring-user.ts');
const absence = keyringAbsence();

describe('the keyring of the operating system', () => {
  it.skipIf(absence !== undefined)(`keeps a password for each id ${absence ?? ''}`, async () => {
    const run = await withKeyring('"$1" --conditions=development "$2" "$3"', [process.execPath, USER, randomUUID()]);
    expect(run).toMatchObject({ code: 0 });
    expect(JSON.parse(run.out)).toEqual({
      after: 'kept in the keyring',
      removed: [true, false],
    });
  });

  it('is not available without a session, and the kernel keyring does not replace it', () => {
    const { stdout } = spawnSync(process.execPath, ['--conditions=development', USER, randomUUID()], {
      env: { PATH: process.env.PATH, HOME: '/nonexistent', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent' },
      encoding: 'utf8',
    });
    expect(JSON.parse(stdout)).toEqual({ unavailable: 'the keyring of the operating system is not available' });
  });
});
