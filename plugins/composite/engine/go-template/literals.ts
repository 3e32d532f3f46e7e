import { Buffer } from 'node:buffer';
import type { Literal } from './tree.ts';

/** A parsed literal, or why it is invalid. */
export type ReadLiteral = Literal | { readonly type: 'wrong'; readonly why: string };

const DECIMAL = /^[+-]?(?:\d+(?:_\d+)*)$/;
const PREFIXED =
  /^([+-]?)0(?:([xX])(_?[\da-fA-F]+(?:_[\da-fA-F]+)*)|([bB])(_?[01]+(?:_[01]+)*)|([oO]?)(_?[0-7]+(?:_[0-7]+)*))$/;
const FLOAT = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const HEX_FLOAT = /^([+-]?)0[xX]([\da-fA-F]*)(?:\.([\da-fA-F]*))?[pP]([+-]?\d+)$/;
const MAX_INT = 2n ** 63n - 1n;

/** Parses a number by Go's lexical rules; integers beyond 64 bits are an error, not rounded. */
export function readNumber(text: string): ReadLiteral {
  const integer = readInteger(text);
  if (integer !== undefined) {
    if (integer > MAX_INT || integer < -MAX_INT - 1n) return { type: 'wrong', why: `integer overflow: "${text}"` };
    return { type: 'int', value: integer };
  }
  const plain = withoutUnderscores(text);
  if (plain !== undefined && FLOAT.test(plain)) return readFloat(text, Number(plain));
  const hex = plain === undefined ? null : HEX_FLOAT.exec(plain);
  if (hex !== null) return readFloat(text, hexFloat(hex));
  return { type: 'wrong', why: `illegal number syntax: "${text}"` };
}

function readFloat(text: string, value: number): ReadLiteral {
  if (!Number.isFinite(value)) return { type: 'wrong', why: `illegal number syntax: "${text}"` };
  // Go reads digits that are not an integer, e.g. 089, as a float and then refuses it
  if (!/[.eEpP]/.test(text)) return { type: 'wrong', why: `integer overflow: "${text}"` };
  return { type: 'float', value };
}

function readInteger(text: string): bigint | undefined {
  const prefixed = PREFIXED.exec(text);
  if (prefixed !== null) {
    const [, sign, , hex, , binary, , octal] = prefixed;
    const digits = hex !== undefined ? `0x${hex}` : binary !== undefined ? `0b${binary}` : `0o${octal}`;
    const size = BigInt(digits.replaceAll('_', ''));
    return sign === '-' ? -size : size;
  }
  if (!DECIMAL.test(text) || /^[+-]?0[\d_]/.test(text)) return undefined;
  return BigInt(text.replaceAll('_', '').replace('+', ''));
}

/** Go allows underscores in floats only with a prefix, as in `0x_1p4`. */
function withoutUnderscores(text: string): string | undefined {
  if (!text.includes('_')) return text;
  return /^[+-]?0[xX]/.test(text) && !/__|_$|_[.pP]|[.pP+-]_/.test(text) ? text.replaceAll('_', '') : undefined;
}

function hexFloat([, sign, whole = '', fraction = '', exponent = '0']: RegExpExecArray): number {
  if (whole === '' && fraction === '') return Number.NaN;
  const digits = Number(BigInt(`0x0${whole}${fraction}`)) * 2 ** (Number(exponent) - 4 * fraction.length);
  return sign === '-' ? -digits : digits;
}

/** Parses a string in double quotes; `undefined` for an escape that Go does not have. */
export function readQuoted(text: string): string | undefined {
  return unescaped(text.slice(1, -1), '"');
}

/** Parses a string in backquotes: no escapes, carriage returns removed. */
export function readRaw(text: string): string {
  return text.slice(1, -1).replaceAll('\r', '');
}

/** The code point of a character constant, e.g. 97 for `'a'`; `undefined` when it is invalid. */
export function readRune(text: string): bigint | undefined {
  const inner = text.slice(1, -1);
  const numbered = /^\\(?:x([\da-f]{2})|([0-7]{3}))$/i.exec(inner);
  // in a rune \xff and \377 are the code point, not a byte of UTF-8
  if (numbered !== null) return numbered[1] === undefined ? octal(numbered[2] ?? '') : BigInt(`0x${numbered[1]}`);
  const read = unescaped(inner, "'");
  if (read === undefined || [...read].length !== 1) return undefined;
  return BigInt(read.codePointAt(0) ?? 0);
}

function octal(digits: string): bigint | undefined {
  const value = BigInt(`0o${digits}`);
  return value > 255n ? undefined : value;
}

const SIMPLE: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11, '\\': 92 };
const ESCAPE = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{3})|([\s\S]))|([^\\]+)/gy;

function unescaped(text: string, quote: string): string | undefined {
  if (!text.includes('\\')) return text.includes('\n') || text.includes(quote) ? undefined : text;
  const pieces: Buffer[] = [];
  let read = 0;
  for (const found of text.matchAll(ESCAPE)) {
    const piece = escaped(found, quote);
    if (piece === undefined) return undefined;
    pieces.push(piece);
    read += found[0].length;
  }
  return read === text.length ? Buffer.concat(pieces).toString('utf8') : undefined;
}

function escaped(found: RegExpExecArray, quote: string): Buffer | undefined {
  const [, hex, short, long, oct, simple, plain] = found;
  if (plain !== undefined) return Buffer.from(plain);
  if (hex !== undefined) return Buffer.from([Number.parseInt(hex, 16)]);
  if (oct !== undefined) return Number.parseInt(oct, 8) > 255 ? undefined : Buffer.from([Number.parseInt(oct, 8)]);
  const point = short ?? long;
  if (point !== undefined) return codePoint(Number.parseInt(point, 16));
  if (simple === quote) return Buffer.from(quote);
  const code = SIMPLE[simple ?? ''];
  return code === undefined ? undefined : Buffer.from([code]);
}

function codePoint(point: number): Buffer | undefined {
  if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return undefined;
  return Buffer.from(String.fromCodePoint(point));
}
