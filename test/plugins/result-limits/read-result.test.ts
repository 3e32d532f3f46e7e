import { encode, type JsonObject } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { partOf, readArguments } from '../../../plugins/result-limits/read-result.ts';
import { textsOf } from '../../support/result-limited-gateway.ts';

function read(kept: Buffer, given: JsonObject) {
  const wanted = readArguments({ id: 'x', ...given });
  if ('problem' in wanted) throw new Error(wanted.problem);
  return textsOf(partOf(kept, wanted, 4_096).value);
}

describe('a page of a result over 4 MiB', () => {
  const kept = encode({ content: [{ type: 'text', text: `${'x'.repeat(5_000_000)} end` }], structuredContent: {} });

  it('is read and searched as JSON, which is not decoded', () => {
    const whole: readonly JsonObject[] = [{}, { part: 'all' }];
    for (const given of whole)
      expect(read(kept, { ...given, limit: 11 })).toEqual([
        `[characters 0 to 11 of ${kept.length}; next offset 11]`,
        '{"content":',
      ]);
    expect(read(kept, { search: ' END' })[0]).toContain('1 places from 0');
  });

  it('has no part or path that must be decoded, and says so', () => {
    const refused: readonly JsonObject[] = [
      { part: 'text' },
      { part: 'structured' },
      { path: 'content' },
      { part: 'all', path: 'content' },
    ];
    for (const given of refused) expect(read(kept, given)[0]).toContain('the result is too large to be decoded');
  });
});
