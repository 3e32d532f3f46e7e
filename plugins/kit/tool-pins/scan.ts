import type { JsonObject, JsonValue } from '@toolmgr/core';
import { SCAN_RULES } from './scan-rules.ts';

/** What the scanner found in a definition. */
export interface Finding {
  readonly rule: string;
  /** Where, as a path of members, e.g. `inputSchema.properties.path.description`; only the beginning of a long one. */
  readonly path: string;
  /** A clause that says what was found. It repeats no text of the definition. */
  readonly finding: string;
}

/** Searches all texts of a definition. Shape: one finding per rule and place, at most {@link MOST_FINDINGS}. */
export function scan(definition: JsonObject): readonly Finding[] {
  const findings: Finding[] = [];
  visit(definition, '', false, (text, path, isName) => {
    for (const { id, finding, pattern, in: only } of SCAN_RULES) {
      if (findings.length >= MOST_FINDINGS) return;
      if ((only === undefined || isName) && pattern.test(text)) findings.push({ rule: id, path, finding });
    }
  });
  return findings;
}

/** A definition with more is held for its first ones. */
const MOST_FINDINGS = 20;

/** Texts and member names; a name is `name` of an entry or argument, or a member of `properties`. */
function visit(
  value: JsonValue | undefined,
  path: string,
  isName: boolean,
  onText: (text: string, path: string, isName: boolean) => void,
): void {
  if (typeof value === 'string') onText(value, path, isName);
  else if (Array.isArray(value)) {
    for (const [at, each] of value.entries()) visit(each as JsonValue, below(path, `[${at}]`), false, onText);
  } else if (value !== null && typeof value === 'object') {
    for (const [key, member] of Object.entries(value as JsonObject)) {
      const inner = below(path, path === '' ? key : `.${key}`);
      onText(key, inner, true);
      visit(member, inner, key === 'name', onText);
    }
  }
}

/** Backends choose the names: a long one would be copied for each text below it. */
const MOST_OF_PATH = 200;

function below(path: string, part: string): string {
  if (path.length >= MOST_OF_PATH) return path;
  return part.length > MOST_OF_PATH ? `${path}${part.slice(0, MOST_OF_PATH)}…` : path + part;
}
