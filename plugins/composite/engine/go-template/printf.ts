import { type Budget, expectShort, spendText } from './limits.ts';
import { type Flags, NO_FLAGS } from './printf-flags.ts';
import { argumentText } from './printf-verbs.ts';
import { integerOf, kindOf, typeName, type Value } from './value.ts';

/**
 * Formats values as Go's `fmt.Sprintf`, with its error texts: `%!d(string=x)`, `%!s(MISSING)`.
 * @throws LimitError; ArgumentError for the verbs that are not supported, see `printf-verbs.ts` and `printf-numbers.ts`
 */
export function formatted(format: string, values: readonly Value[], budget: Budget): string {
  spendText(budget, format.length);
  const state: State = { format, values, at: 0, argument: 0, isReordered: false, afterIndex: false, isValid: true };
  const pieces: string[] = [];
  let length = 0;
  const add = (piece: string): void => {
    length += piece.length;
    spendText(budget, piece.length);
    expectShort(length);
    pieces.push(piece);
  };
  while (state.at < format.length) add(nextPiece(state, budget));
  add(extra(state, budget));
  return pieces.join('');
}

/** The state of formatting. `argument` is the index of the next value. */
interface State {
  readonly format: string;
  readonly values: readonly Value[];
  at: number;
  argument: number;
  /** Whether `%[2]d` was used: Go then does not report extra values. */
  isReordered: boolean;
  /** Whether `[2]` was just read. */
  afterIndex: boolean;
  /** Whether all argument indexes of this verb were valid. */
  isValid: boolean;
}

function nextPiece(state: State, budget: Budget): string {
  const { format } = state;
  if (format[state.at] === '%') return directive(state, budget);
  const next = format.indexOf('%', state.at);
  const end = next < 0 ? format.length : next;
  const text = format.slice(state.at, end);
  state.at = end;
  return text;
}

type Writable = { -readonly [K in keyof Flags]: Flags[K] };

function directive(state: State, budget: Budget): string {
  const { format, values } = state;
  state.at += 1;
  state.isValid = true;
  state.afterIndex = false;
  const flags: Writable = { ...NO_FLAGS };
  readFlags(state, flags);
  readIndex(state);
  const errors = readWidth(state, flags) + readPrecision(state, flags);
  if (!state.afterIndex) readIndex(state);
  if (state.at >= format.length) return `${errors}%!(NOVERB)`;
  const verb = String.fromCodePoint(format.codePointAt(state.at) ?? 0);
  state.at += verb.length;
  if (verb === '%') return `${errors}%`;
  if (!state.isValid) return `${errors}%!${verb}(BADINDEX)`;
  if (state.argument >= values.length) return `${errors}%!${verb}(MISSING)`;
  const value = values[state.argument];
  state.argument += 1;
  return errors + argumentText(value, verb, flags, budget);
}

const FLAGS: Readonly<Record<string, 'sharp' | 'zero' | 'plus' | 'minus' | 'space'>> = {
  '#': 'sharp',
  '0': 'zero',
  '+': 'plus',
  '-': 'minus',
  ' ': 'space',
};

function readFlags(state: State, flags: Writable): void {
  for (; state.at < state.format.length; state.at++) {
    const flag = FLAGS[state.format[state.at] ?? ''];
    if (flag === undefined) return;
    flags[flag] = true;
  }
}

/** Parses `[2]`, the index of the next value. */
function readIndex(state: State): void {
  state.afterIndex = false;
  if (state.format[state.at] !== '[') return;
  state.isReordered = true;
  const close = state.format.indexOf(']', state.at + 1);
  if (close < 0 || state.format.length - state.at < 3) {
    state.isValid = false;
    state.at += 1;
    return;
  }
  const { number, after } = readDigits(state.format, state.at + 1, close);
  state.at = close + 1;
  const isNumber = number !== undefined && after === close;
  state.afterIndex = isNumber;
  if (isNumber && number >= 1 && number <= state.values.length) state.argument = number - 1;
  else state.isValid = false;
}

function readWidth(state: State, flags: Writable): string {
  if (state.format[state.at] === '*') {
    state.at += 1;
    state.afterIndex = false;
    const width = numberFromArgument(state);
    if (width === undefined) return '%!(BADWIDTH)';
    flags.width = Math.abs(width);
    if (width < 0) {
      flags.minus = true;
      flags.zero = false;
    }
    return '';
  }
  const { number, after } = readDigits(state.format, state.at, state.format.length);
  state.at = after;
  flags.width = number;
  if (state.afterIndex && number !== undefined) state.isValid = false;
  return '';
}

function readPrecision(state: State, flags: Writable): string {
  if (state.at + 1 >= state.format.length || state.format[state.at] !== '.') return '';
  state.at += 1;
  if (state.afterIndex) state.isValid = false;
  readIndex(state);
  if (state.format[state.at] === '*') {
    state.at += 1;
    state.afterIndex = false;
    const precision = numberFromArgument(state);
    if (precision === undefined || precision < 0) return '%!(BADPREC)';
    flags.precision = precision;
    return '';
  }
  const { number, after } = readDigits(state.format, state.at, state.format.length);
  state.at = after;
  flags.precision = number ?? 0;
  return '';
}

/** Larger widths and precisions are invalid. Source: Go fmt. */
const MAX_NUMBER = 1_000_000;

interface Digits {
  readonly number: number | undefined;
  readonly after: number;
}

function readDigits(format: string, from: number, end: number): Digits {
  let number: number | undefined;
  let at = from;
  for (; at < end; at++) {
    const digit = format.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) break;
    if ((number ?? 0) > MAX_NUMBER) return { number: undefined, after: end };
    number = (number ?? 0) * 10 + digit;
  }
  return { number, after: at };
}

function numberFromArgument(state: State): number | undefined {
  if (state.argument >= state.values.length) return undefined;
  const value = state.values[state.argument];
  state.argument += 1;
  if (kindOf(value) !== 'int') return undefined;
  const number = integerOf(value);
  return number > MAX_NUMBER || number < -MAX_NUMBER ? undefined : Number(number);
}

function extra({ isReordered, argument, values }: State, budget: Budget): string {
  if (isReordered || argument >= values.length) return '';
  const left = values.slice(argument).map((value) => {
    if (value === undefined || value === null) return '<nil>';
    return `${typeName(value)}=${argumentText(value, 'v', NO_FLAGS, budget)}`;
  });
  return `%!(EXTRA ${left.join(', ')})`;
}
