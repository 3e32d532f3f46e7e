import { exponential, fixed, general } from './format-number.ts';
import { type Flags, padded } from './printf-flags.ts';
import { isPrintable, quoted } from './quote.ts';
import { ArgumentError } from './template-error.ts';

/** Formats an integer with a verb of `printf`; `undefined` when the verb does not apply to integers. */
export function integerText(value: bigint, verb: string, flags: Flags, isByte: boolean): string | undefined {
  if (verb === 'v' && flags.goSyntax && isByte) return digitsText(value, 'x', { ...flags, sharp: true });
  if (verb === 'c') return padded(characterOf(value), flags);
  if (verb === 'q') return padded(quoted(characterOf(value), "'", flags.plus), flags);
  if (verb === 'U') return padded(unicodeText(value, flags), { ...flags, zero: false });
  return verb === 'v' || BASES[verb] !== undefined ? digitsText(value, verb, flags) : undefined;
}

const BASES: Readonly<Record<string, number>> = { d: 10, b: 2, o: 8, O: 8, x: 16, X: 16 };
const PREFIXES: Readonly<Record<string, string>> = { b: '0b', x: '0x', X: '0X' };

function digitsText(value: bigint, verb: string, flags: Flags): string {
  const spaces = { ...flags, zero: false };
  if (flags.precision === 0 && value === 0n) return padded('', spaces);
  const size = (value < 0n ? -value : value).toString(BASES[verb] ?? 10);
  const digits = (verb === 'X' ? size.toUpperCase() : size).padStart(leastDigits(value, flags), '0');
  const sign = value < 0n ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
  return padded(sign + prefixOf(digits, verb, flags) + digits, spaces);
}

function leastDigits(value: bigint, { precision, zero, minus, plus, space, width }: Flags): number {
  if (precision !== undefined) return precision;
  if (!zero || minus || width === undefined) return 0;
  return value < 0n || plus || space ? width - 1 : width;
}

function prefixOf(digits: string, verb: string, { sharp }: Flags): string {
  if (verb === 'O') return sharp && !digits.startsWith('0') ? '0o0' : '0o';
  if (!sharp) return '';
  if (verb === 'o') return digits.startsWith('0') ? '' : '0';
  return PREFIXES[verb] ?? '';
}

const MAX_CODE_POINT = 0x10ffffn;

function characterOf(value: bigint): string {
  const isCharacter = value >= 0n && value <= MAX_CODE_POINT && (value < 0xd800n || value > 0xdfffn);
  return isCharacter ? String.fromCodePoint(Number(value)) : '\ufffd';
}

function unicodeText(value: bigint, { sharp, precision = 4 }: Flags): string {
  const digits = BigInt.asUintN(64, value).toString(16).toUpperCase().padStart(Math.max(precision, 4), '0');
  const character = characterOf(value);
  const isShown = sharp && value >= 0n && value <= MAX_CODE_POINT && isPrintable(character);
  return `U+${digits}${isShown ? ` '${character}'` : ''}`;
}

/**
 * Formats a float with a verb of `printf`; `undefined` when the verb does not apply to floats.
 * @throws ArgumentError for what is not supported: `%b`, `%x`, `%X` and `%#` of floats
 */
export function floatText(value: number, verb: string, flags: Flags): string | undefined {
  const write = FLOATS[verb];
  if (write === undefined) return undefined;
  if (flags.sharp) throw new ArgumentError(`%#${verb} of a float64 is not supported`);
  const text = write(value, flags.precision);
  const isNegative = text.startsWith('-');
  const sign = isNegative ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
  const size = isNegative ? text.slice(1) : text;
  if (sign === '' || !flags.zero || flags.minus) return padded(sign + size, flags);
  return sign + padded(size, { ...flags, width: Math.max((flags.width ?? 0) - 1, 0) });
}

const DEFAULT_PLACES = 6;

const FLOATS: Readonly<Record<string, (value: number, precision: number | undefined) => string>> = {
  v: general,
  g: general,
  G: (value, precision) => general(value, precision).toUpperCase(),
  e: (value, precision) => exponential(value, precision ?? DEFAULT_PLACES),
  E: (value, precision) => exponential(value, precision ?? DEFAULT_PLACES).toUpperCase(),
  f: (value, precision) => fixed(value, precision ?? DEFAULT_PLACES),
  F: (value, precision) => fixed(value, precision ?? DEFAULT_PLACES),
  b: () => refused('b'),
  x: () => refused('x'),
  X: () => refused('X'),
};

function refused(verb: string): never {
  throw new ArgumentError(`%${verb} of a float64 is not supported, expected %v, %g, %e or %f`);
}
