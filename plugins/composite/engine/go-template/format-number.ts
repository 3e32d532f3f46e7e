import { type Decimal, roundedToDigits, roundedToPlaces, shortestDecimal } from './decimal.ts';

/** A float as Go's `%v` and `%g`: the fewest digits that read back; an exponent below 1e-4 and from 1e6 on. */
export function shortestFloat(value: number): string {
  return general(value, undefined);
}

/** From this exponent on the shortest form uses scientific notation. Source: Go strconv, format 'g' with precision -1. */
const SHORTEST_EXPONENT = 6;
const LEAST_EXPONENT = -4;

/** A float as `%e`: `places` digits after the point. */
export function exponential(value: number, places: number): string {
  const decimal = roundedToDigits(value, places + 1);
  return scientific(decimal, places);
}

/** A float as `%f`: `places` digits after the point, exact for numbers of any size. */
export function fixed(value: number, places: number): string {
  const decimal = roundedToPlaces(value, places);
  return positional(decimal, places);
}

/** A float as `%g`: `precision` significant digits, `undefined` for the fewest that read back; no trailing zeros. */
export function general(value: number, precision: number | undefined): string {
  const decimal = precision === undefined ? shortestDecimal(value) : roundedToDigits(value, Math.max(precision, 1));
  const { digits, point } = decimal;
  const count = digits.length;
  const exponent = point - 1;
  if (exponent < LEAST_EXPONENT || exponent >= exponentLimit(decimal, precision))
    return scientific(decimal, Math.max(count - 1, 0));
  return positional(decimal, Math.max(count - point, 0));
}

/** Go: when the precision exceeds the digits of an integral number, the number of digits is the limit. */
function exponentLimit({ digits, point }: Decimal, precision: number | undefined): number {
  if (precision === undefined) return SHORTEST_EXPONENT;
  const wanted = Math.max(precision, 1);
  return wanted > digits.length && digits.length >= point ? digits.length : wanted;
}

function scientific({ isNegative, digits, point }: Decimal, places: number): string {
  const exponent = digits === '' ? 0 : point - 1;
  const mantissa = digits.padEnd(places + 1, '0');
  const fraction = places > 0 ? `.${mantissa.slice(1)}` : '';
  const size = Math.abs(exponent).toString().padStart(2, '0');
  return `${isNegative ? '-' : ''}${mantissa[0]}${fraction}e${exponent < 0 ? '-' : '+'}${size}`;
}

function positional({ isNegative, digits, point }: Decimal, places: number): string {
  const all = '0'.repeat(Math.max(1 - point, 0)) + digits;
  const whole = Math.max(point, 1);
  const text = all.padEnd(whole + places, '0').slice(0, whole + places);
  return `${isNegative ? '-' : ''}${text.slice(0, whole)}${places > 0 ? `.${text.slice(whole)}` : ''}`;
}
