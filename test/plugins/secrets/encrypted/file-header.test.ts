import { describe, expect, it } from 'vitest';
import { newHeader, readHeader } from '../../../../plugins/secrets/encrypted/file-header.ts';
import { PASSWORD, QUICK } from './stored.ts';

const { header } = await newHeader(PASSWORD, QUICK);
const read = (change: object) => readHeader('f', JSON.stringify({ ...JSON.parse(header), ...change }));

describe('the header of encrypted secrets', () => {
  it('may ask for exactly 128 MiB, and for exactly five times the work of the default', () => {
    expect(read({ N: 131_072, r: 8, p: 1 })).toMatchObject({ N: 131_072 });
    expect(() => read({ N: 131_072, r: 9, p: 1 })).toThrow('asks for too much memory');
    expect(read({ N: 32_768, r: 8, p: 16 })).toMatchObject({ p: 16 });
    expect(() => read({ N: 65_536, r: 5, p: 13 })).toThrow('asks for too much time');
  });

  it.each([
    [{ version: 2 }, 'f has version 2 of the format, and this toolmgr reads version 1: update toolmgr'],
    [
      { salt: 'AA==', check: 'AA==' },
      'f has a damaged first line (salt: expected 16 bytes, check: expected 16 bytes): restore it from a backup',
    ],
    [{ version: 'two' }, /^f has a damaged first line \(version: /],
    [{ extra: true }, /^f has a damaged first line \(the header: /],
    [{ format: 'other', version: 2 }, 'f is not a file of encrypted secrets, or is damaged'],
  ])('with %j says what is wrong', (change, message) => {
    expect(() => read(change)).toThrow(message);
    expect(() => read(change)).toThrow(expect.objectContaining({ code: 'SECRETS_UNAVAILABLE' }));
  });
});
