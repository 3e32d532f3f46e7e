import { describe, expect, it } from 'vitest';
import { decodeHeaderValue, encodeHeaderValue } from '../../../core/mcp/headers.ts';
import { proves } from '../../support/proves.ts';

describe('encodeHeaderValue', () => {
  proves('choice.encoding.plain', 'leaves visible ASCII with inner blanks as it is', () => {
    for (const plain of ['echo', 'a b', 'a\tb', '~!', 'file:///x?y=1', '=?base64?', '?=']) {
      expect(encodeHeaderValue(plain)).toBe(plain);
    }
  });

  proves('choice.encoding.sentinel', 'encodes everything else as UTF-8 in base64', () => {
    expect(encodeHeaderValue('größe')).toBe('=?base64?Z3LDtsOfZQ==?=');
    expect(encodeHeaderValue(' a')).toBe('=?base64?IGE=?=');
    expect(encodeHeaderValue('a\t')).toBe('=?base64?YQk=?=');
    expect(encodeHeaderValue('a\r\nx: y')).toBe('=?base64?YQ0KeDogeQ==?=');
    expect(encodeHeaderValue('')).toBe('=?base64??=');
    expect(encodeHeaderValue('\u007f')).toBe('=?base64?fw==?=');
  });

  proves('choice.encoding.looks-like-sentinel', 'encodes a plain value that looks encoded', () => {
    expect(encodeHeaderValue('=?base64?YQ==?=')).toBe('=?base64?PT9iYXNlNjQ/WVE9PT89?=');
  });

  it('is undone by decodeHeaderValue', () => {
    for (const text of ['', 'a', ' ', 'größe', '🙂', '=?base64?YQ==?=', 'x'.repeat(500), 'a b\tc', '\u0000']) {
      expect(decodeHeaderValue(encodeHeaderValue(text))).toBe(text);
    }
  });
});

describe('decodeHeaderValue', () => {
  it('trims blanks around the value', () => {
    expect(decodeHeaderValue(' \t echo ')).toBe('echo');
    expect(decodeHeaderValue(' =?base64?YQ==?= ')).toBe('a');
  });

  it('refuses a bad alphabet, bad padding and bytes that are not UTF-8', () => {
    for (const bad of [
      '=?base64?Y?=',
      '=?base64?YQ=?=',
      '=?base64?YQ?=',
      '=?base64?Y Q=?=',
      '=?base64?Y-_=?=',
      '=?base64?/w==?=',
    ]) {
      expect(decodeHeaderValue(bad), bad).toBeUndefined();
    }
  });

  proves('choice.encoding.literal', 'takes a value without the whole sentinel as it is', () => {
    for (const literal of ['=?base64?YQ==', 'YQ==?=', '=?base64?=', '=?utf8?YQ==?=']) {
      expect(decodeHeaderValue(literal)).toBe(literal);
    }
  });

  proves('choice.encoding.markers-case-sensitive', 'knows the markers in lower case only', () => {
    expect(decodeHeaderValue('=?BASE64?YQ==?=')).toBe('=?BASE64?YQ==?=');
  });
});
