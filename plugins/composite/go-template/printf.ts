import { type Budget, expectShort, spendText } from './limits.ts';
import { type Flags, NO_FLAGS } from './printf-flags.ts';
import { argumentText } from './printf-verbs.ts';
import { integerOf, kindOf, typeName, type Value } from './value.ts';

/**
 * A format filled with values as Go's `fmt.Sprintf` does, mistakes told in the text: `%!d(string=x)`, `%!s(MISSING)`.
 * @throws LimitError; ArgumentError for the few verbs that are left out, which `printf-verbs.ts` names
 */
export function formatted(format: string, values: readonly Value[], budget: Budget): string {
  spendText(budget, format.length);
  const state: State = { format, values, at: 0, argument: 0, isReordered: false, afterIndex: false, isGood: true };
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

/** Where the reading of a format stands. `argument` is the place of the next value. */
interface State {
  readonly format: string;
  readonly values: readonly Value[];
  at: number;
  argument: number;
  /** Whether `%[2]d` was used: then nobody counts what is left over. */
  isReordered: boolean;
  /** Whether `[2]` was just read. */
  afterIndex: boolean;
  /** Whether the numbers in brackets so far are ones of the verb. */
  isGood: boolean;
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
  state.isGood = true;
  state.afterIndex = false;
  const flags: Writable = { ...NO_FLAGS };
  readFlags(state, flags);
  readIndex(state);
  const complaints = readWidth(state, flags) + readPrecision(state, flags);
  if (!state.afterIndex) readIndex(state);
  if (state.at >= format.length) return `${complaints}%!(NOVERB)`;
  const verb = String.fromCodePoint(format.codePointAt(state.at) ?? 0);
  state.at += verb.length;
  if (verb === '%') return `${complaints}%`;
  if (!state.isGood) return `${complaints}%!${verb}(BADINDEX)`;
  if (state.argument >= values.length) return `${complaints}%!${verb}(MISSING)`;
  const value = values[state.argument];
  state.argument += 1;
  return complaints + argumentText(value, verb, flags, budget);
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

/** Reads `[2]`, the place of the next value. */
function readIndex(state: State): void {
  state.afterIndex = false;
  if (state.format[state.at] !== '[') return;
  state.isReordered = true;
  const close = state.format.indexOf(']', state.at + 1);
  if (close < 0 || state.format.length - state.at < 3) {
    state.isGood = false;
    state.at += 1;
    return;
  }
  const { number, after } = readDigits(state.format, state.at + 1, close);
  state.at = close + 1;
  const isNumber = number !== undefined && after === close;
  state.afterIndex = isNumber;
  if (isNumber && number >= 1 && number <= state.values.length) state.argument = number - 1;
  else state.isGood = false;
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
  if (state.afterIndex && number !== undefined) state.isGood = false;
  return '';
}

function readPrecision(state: State, flags: Writable): string {
  if (state.at + 1 >= state.format.length || state.format[state.at] !== '.') return '';
  state.at += 1;
  if (state.afterIndex) state.isGood = false;
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

/** Widths and precisions beyond this are none. Source: Go fmt. */
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
