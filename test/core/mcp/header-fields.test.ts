import { CONNECTION_FIELDS, CONTENT_FIELDS, FIELD_NAME, FIELD_VALUE } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';

describe('header fields', () => {
  it.each(["!#$%&'*+-.^_`|~", 'X-Api-Key', '0'])('may be called %s', (name) => {
    expect(FIELD_NAME.test(name)).toBe(true);
  });

  it.each(['', 'a b', 'a:', 'a\n', 'ä', 'a(b)', '"a"', 'a/b', '[a]', 'a@b'])('may not be called %j', (name) => {
    expect(FIELD_NAME.test(name)).toBe(false);
  });

  it.each(['', ' a\tb ', 'caf\u00e9', '\u00ff'])('may have the value %j', (value) => {
    expect(FIELD_VALUE.test(value)).toBe(true);
  });

  it.each(['a\nb', 'a\r', 'a\n', '\0', '\u007f', '\u0100', '€'])('may not have the value %j', (value) => {
    expect(FIELD_VALUE.test(value)).toBe(false);
  });

  it('of the connection are in lower case, and all that RFC 9110 §7.6.1 names are among them', () => {
    const all = [...CONNECTION_FIELDS, ...CONTENT_FIELDS];
    expect(all.filter((name) => name !== name.toLowerCase() || !FIELD_NAME.test(name))).toEqual([]);
    expect(new Set(all).size).toBe(all.length);
    const named = ['connection', 'proxy-connection', 'keep-alive', 'te', 'transfer-encoding', 'upgrade'];
    expect(CONNECTION_FIELDS).toEqual(expect.arrayContaining(named));
  });
});
