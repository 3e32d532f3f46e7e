import { describe, expect, it } from 'vitest';
import { CHANGED_LIST, CLIENT_METHODS, GATEWAY_METHODS, LIST_KINDS } from '../../../core/mcp/methods.ts';
import { isLegacyVersion, LEGACY_VERSIONS } from '../../../core/mcp/versions.ts';

describe('methods', () => {
  it('that the gateway answers are among those that a client may send', () => {
    expect([...GATEWAY_METHODS].filter((method) => !CLIENT_METHODS.has(method))).toEqual([]);
    expect(GATEWAY_METHODS.size).toBe(8);
  });

  it('that tell of a changed list name each list once, and no other word is one', () => {
    expect([...CHANGED_LIST]).toEqual([
      ['notifications/tools/list_changed', 'tools'],
      ['notifications/prompts/list_changed', 'prompts'],
      ['notifications/resources/list_changed', 'resources'],
    ]);
    expect(LIST_KINDS).toEqual([...CHANGED_LIST.values()]);
    expect(CHANGED_LIST.get('constructor')).toBeUndefined();
  });
});

describe('the revisions with sessions', () => {
  it('are listed newest first, and 2026-07-28 is none of them', () => {
    expect(LEGACY_VERSIONS).toEqual([...LEGACY_VERSIONS].sort().reverse());
    expect(['2025-06-18', '2026-07-28', ' 2025-06-18', undefined].map(isLegacyVersion)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});
