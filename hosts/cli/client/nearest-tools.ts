import { nearest } from '@toolmgr/core';

const MAX_NAMES = 3;
/** Shorter names are part of too many others. */
const MIN_SHARED = 3;

/**
 * The tools that a name probably means, best first: a misspelling, a name with or without the prefix of its backend, or with another
 * prefix. Pure.
 */
export function nearestTools(name: string, names: readonly string[]): readonly string[] {
  const bare = withoutPrefix(name);
  const equal = names.filter((one) => isSame(one, bare) || isSame(withoutPrefix(one), name));
  const near = [nearest(name, names), nearest(bare, names)].filter((one) => one !== undefined);
  const otherPrefix = names.filter((one) => isSame(withoutPrefix(one), bare));
  const misspelt = nearest(name, names.map(withoutPrefix));
  const withPrefix = names.filter((one) => withoutPrefix(one) === misspelt);
  const alike = names.filter((one) => contains(one, name) || contains(name, one));
  return [...new Set([...equal, ...near, ...otherPrefix, ...withPrefix, ...alike])].slice(0, MAX_NAMES);
}

/** `read_graph` of `memory_read_graph` and of `memory.read_graph`. */
function withoutPrefix(name: string): string {
  return /^[^_.]+[_.]+(.+)$/.exec(name)?.[1] ?? name;
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function contains(long: string, part: string): boolean {
  return part.length >= MIN_SHARED && long.toLowerCase().includes(part.toLowerCase());
}
