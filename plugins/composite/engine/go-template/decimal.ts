/** The decimal digits of a float: `digits` without zeros at the end, `0.d1d2d3… × 10^point`. Zero has no digits. */
export interface Decimal {
  readonly isNegative: boolean;
  readonly digits: string;
  readonly point: number;
}

/** The exact value of a double has only zeros after so many digits. */
const MAX_EXACT = 1100;

/** The fewest digits that read back as the same float. */
export function shortestDecimal(value: number): Decimal {
  const [mantissa = '', exponent = '0'] = Math.abs(value).toExponential().split('e');
  return decimalFrom(value, mantissa.replace('.', ''), Number(exponent) + 1);
}

/** The exact value rounded to a number of significant digits, half to even as in Go. */
export function roundedToDigits(value: number, wanted: number): Decimal {
  const digits = Math.min(wanted, MAX_EXACT);
  if (value === 0) return decimalFrom(value, '', 0);
  // the guess is one too high where the shortest form rounds up to a power of ten
  let point = shortestDecimal(value).point;
  let text = scaled(value, digits - point).toString();
  if (text.length < digits) {
    point -= 1;
    text = scaled(value, digits - point).toString();
  }
  return decimalFrom(value, text, point + text.length - digits);
}

/** The exact value rounded to a number of digits after the point, half to even as in Go. */
export function roundedToPlaces(value: number, wanted: number): Decimal {
  const places = Math.min(wanted, MAX_EXACT);
  const text = scaled(value, places).toString();
  return decimalFrom(value, text, text.length - places);
}

function decimalFrom(value: number, text: string, point: number): Decimal {
  const leading = text.length - text.replace(/^0+/, '').length;
  const digits = text.slice(leading).replace(/0+$/, '');
  return {
    isNegative: value < 0 || Object.is(value, -0),
    digits,
    point: digits === '' ? 0 : point - leading,
  };
}

/** The absolute value of a float times a power of ten, rounded to an integer, half to even. */
function scaled(value: number, power: number): bigint {
  const { mantissa, exponent } = partsOf(value);
  const over = mantissa * 10n ** BigInt(Math.max(power, 0)) * 2n ** BigInt(Math.max(exponent, 0));
  const under = 10n ** BigInt(Math.max(-power, 0)) * 2n ** BigInt(Math.max(-exponent, 0));
  const whole = over / under;
  const rest = 2n * (over % under);
  const isUp = rest > under || (rest === under && whole % 2n === 1n);
  return isUp ? whole + 1n : whole;
}

/** The float as `mantissa × 2^exponent`, without its sign. Source: IEEE 754, binary64. */
function partsOf(value: number): { readonly mantissa: bigint; readonly exponent: number } {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.abs(value));
  const bits = view.getBigUint64(0);
  const fraction = bits & (2n ** 52n - 1n);
  const exponent = Number(bits >> 52n);
  if (exponent === 0) return { mantissa: fraction, exponent: -1074 };
  return { mantissa: fraction | (2n ** 52n), exponent: exponent - 1075 };
}
