import { type Budget, spendText } from './limits.ts';
import { type LeafKind, type Notation, nestedText } from './print-value.ts';
import { type Flags, padded } from './printf-flags.ts';
import { floatText, integerText } from './printf-numbers.ts';
import { quoted } from './quote.ts';
import { ArgumentError } from './template-error.ts';
import { Byte, bytesOf, floatOf, integerOf, type Kind, kindOf, typeName, type Value } from './value.ts';

/**
 * Formats one value with one verb. A verb that does not apply yields Go's error text, e.g. `%!d(string=x)`.
 * @throws ArgumentError for `%p` of a list or map, because values have no address; LimitError
 */
export function argumentText(value: Value, verb: string, given: Flags, budget: Budget): string {
  spendText(budget, (given.width ?? 0) + (given.precision ?? 0));
  const isPlain = verb === 'v' || verb === 'w';
  const flags = isPlain ? { ...given, goSyntax: given.sharp, sharp: false, plus: false } : given;
  const kind = kindOf(value);
  if (kind === 'none') return verb === 'v' || verb === 'T' ? padded('<nil>', flags) : `%!${verb}(<nil>)`;
  if (verb === 'T') return padded(truncated(typeName(value), flags), flags);
  const isNested = kind === 'list' || kind === 'map';
  if (verb === 'p' && isNested) throw new ArgumentError('%p is not supported, values have no address');
  const notation = flags.goSyntax ? goNotation(flags, budget) : plainNotation(verb, flags, budget);
  if (verb === 'w' && isNested)
    return `%!w(${typeName(value)}=${nestedText(value, budget, plainNotation('v', flags, budget))})`;
  return nestedText(value, budget, notation);
}

function plainNotation(verb: string, flags: Flags, budget: Budget): Notation {
  return {
    list: ['[', ']'],
    map: ['map[', ']'],
    between: ' ',
    leaf: (value, kind) => leafText(value, kind, verb, flags, budget),
  };
}

function goNotation(flags: Flags, budget: Budget): Notation {
  return {
    list: ['[]interface {}{', '}'],
    map: ['map[string]interface {}{', '}'],
    between: ', ',
    leaf: (value, kind) => (kind === 'none' ? 'interface {}(nil)' : leafText(value, kind, 'v', flags, budget)),
  };
}

function leafText(value: Value, kind: LeafKind, verb: string, flags: Flags, budget: Budget): string {
  if (kind === 'none') return '<nil>';
  spendText(budget, (flags.width ?? 0) + (flags.precision ?? 0));
  return LEAVES[kind](value, verb, flags) ?? badVerb(value, kind, verb, flags);
}

type Leaf = (value: Value, verb: string, flags: Flags) => string | undefined;

const LEAVES = {
  bool: (value, verb, flags) => (verb === 't' || verb === 'v' ? padded(String(value), flags) : undefined),
  int: (value, verb, flags) => integerText(integerOf(value), verb, flags, value instanceof Byte),
  float: (value, verb, flags) => floatText(floatOf(value), verb, flags),
  string: (value, verb, flags) => stringText(value as string, verb, flags),
} as const satisfies Record<Exclude<Kind, 'none' | 'list' | 'map'>, Leaf>;

function badVerb(value: Value, kind: Exclude<LeafKind, 'none'>, verb: string, flags: Flags): string {
  return `%!${verb}(${typeName(value)}=${LEAVES[kind](value, 'v', flags) ?? ''})`;
}

function stringText(text: string, verb: string, flags: Flags): string | undefined {
  if (verb === 's' || (verb === 'v' && !flags.goSyntax)) return padded(truncated(text, flags), flags);
  if (verb === 'q' || verb === 'v') return padded(quotedText(truncated(text, flags), flags), flags);
  if (verb === 'x') return hexText(text, flags);
  return verb === 'X' ? hexText(text, flags).toUpperCase() : undefined;
}

function quotedText(text: string, flags: Flags): string {
  const fitsRaw = !/[`\x7f\ufeff]|[^\t\P{Cc}]/u.test(text) && text.isWellFormed();
  return flags.sharp && fitsRaw ? `\`${text}\`` : quoted(text, '"', flags.plus);
}

/** The bytes of a text as hexadecimal digits; the precision counts bytes. */
function hexText(text: string, { sharp, space, precision, ...flags }: Flags): string {
  const bytes = [...bytesOf(text).subarray(0, precision)].map((byte) => byte.toString(16).padStart(2, '0'));
  const prefix = sharp && bytes.length > 0 ? '0x' : '';
  const digits = space ? bytes.map((byte) => prefix + byte).join(' ') : prefix + bytes.join('');
  return padded(digits, { ...flags, sharp, space, precision });
}

function truncated(text: string, { precision }: Flags): string {
  return precision === undefined || text.length <= precision ? text : [...text].slice(0, precision).join('');
}
