import { createHash } from 'node:crypto';
import type { ToolEntry } from '../contract/call.ts';
import { renamed } from './entry-definition.ts';

/**
 * Shortens tool names over `maxLength` to the start of the name, `_`, and 8 hex digits of the SHA-256 of the whole
 * name, so that names that differ only at their end stay different.
 *
 * Shape: the short form depends only on the full name; more hex digits are used only when another tool has the same
 * short name.
 * Units: `maxLength` in UTF-16 code units. A name that cannot be shortened is kept (all digits would have to collide).
 */
export function boundNames(tools: readonly ToolEntry[], maxLength: number): ToolEntry[] {
  const long = tools.filter(({ key }) => key.length > maxLength);
  if (long.length === 0) return [...tools];
  const taken = new Set(tools.map(({ key }) => key));
  const shortened = new Map<string, string>();
  for (const key of [...new Set(long.map((tool) => tool.key))].sort()) {
    const name = freeName(key, maxLength, taken);
    taken.add(name);
    shortened.set(key, name);
  }
  return tools.map((tool) => renamedTo(tool, shortened.get(tool.key)));
}

function renamedTo(tool: ToolEntry, name: string | undefined): ToolEntry {
  return name === undefined || name === tool.key ? tool : renamed(tool, name, 'maxToolNameLength');
}

function freeName(key: string, maxLength: number, taken: ReadonlySet<string>): string {
  const digest = createHash('sha256').update(key).digest('hex');
  for (let digits = HASH_DIGITS; digits <= Math.min(digest.length, maxLength - 1); digits++) {
    const name = `${startOf(key, maxLength - 1 - digits)}_${digest.slice(0, digits)}`;
    if (!taken.has(name)) return name;
  }
  return key;
}

/** At most `length` code units, without splitting a surrogate pair. */
function startOf(key: string, length: number): string {
  return key.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}

const HASH_DIGITS = 8;
