import { createHash } from 'node:crypto';

const PLAIN = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const MAX_PLAIN = 63;
const HASH_CHARACTERS = 16;

/**
 * A name of a variable for an object of any name. Different names give different variables: names that are no short DNS labels,
 * or contain `--`, end with `__` and a hash.
 */
export function envName(prefix: string, name: string): string {
  const upper = name.toUpperCase().replace(/[^A-Z0-9]/g, '_');
  if (name.length <= MAX_PLAIN && PLAIN.test(name)) return `${prefix}_${upper}`;
  return `${prefix}_${upper.slice(0, MAX_PLAIN - HASH_CHARACTERS)}__${shortHash(name).toUpperCase()}`;
}

/** A DNS label of at most 63 characters for a volume, different for different names. */
export function volumeName(prefix: string, name: string): string {
  const whole = `${prefix}-${name}`;
  if (whole.length <= MAX_PLAIN && PLAIN.test(whole)) return whole;
  const kept = whole.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return `${kept.slice(0, MAX_PLAIN - HASH_CHARACTERS - 2)}--${shortHash(whole)}`;
}

/** The last part of the type of a condition, for a name that a user chose. */
export function conditionSuffix(name: string): string {
  if (name.length <= MAX_CONDITION_SUFFIX && CONDITION_SUFFIX.test(name)) return name;
  return `${name.slice(0, MAX_PLAIN).replace(/[^A-Za-z0-9]/g, '_')}_${shortHash(name)}`;
}

const MAX_CONDITION_SUFFIX = 253;
const CONDITION_SUFFIX = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_CHARACTERS);
}
