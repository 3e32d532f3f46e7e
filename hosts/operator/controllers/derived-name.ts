import { createHash } from 'node:crypto';

/** Maximum length of a DNS label: names of Services, values of labels. */
export const MAX_LABEL = 63;
/** A StatefulSet's pods carry its name and a hash of 10 characters in a label. */
export const MAX_STATEFUL_SET = 52;

const HASH_CHARACTERS = 8;
const SERVICE_NAME = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;

/**
 * A name for an object that belongs to another one: `prefix`, its name and `suffix`. A name of a resource may have 253 characters
 * and dots; where the result is longer than `max` or no DNS label that begins with a letter, it is shortened and gets a hash of the
 * whole name, so that different owners never share an object.
 */
export function derivedName(owner: string, { prefix = '', suffix = '', max = MAX_LABEL } = {}): string {
  const whole = `${prefix}${owner}${suffix}`;
  if (whole.length <= max && SERVICE_NAME.test(whole)) return whole;
  const hash = createHash('sha256').update(owner).digest('hex').slice(0, HASH_CHARACTERS);
  const head = `${prefix}${owner}`.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const letterFirst = /^[a-z]/.test(head) ? head : `x${head}`;
  const kept = letterFirst.slice(0, max - suffix.length - HASH_CHARACTERS - 1).replace(/-+$/, '');
  return `${kept}-${hash}${suffix}`;
}

/** A value of a label: at most 63 letters, digits, `-`, `_` and `.`. */
export function labelValue(name: string): string {
  return name.length <= MAX_LABEL ? name : derivedName(name);
}
