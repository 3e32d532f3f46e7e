import { isObject, type JsonObject, type JsonValue } from '@toolmgr/core';

const VALUE_CHARACTERS = 100; // reference: telemetry, per value
const TOTAL_CHARACTERS = 200; // reference: telemetry, in all
const SECRET_NAME = /password|token|secret|key|auth|credential|private/i;
const MASK = '[masked]';

/**
 * Arguments as a short text, `name=value, …`; values with a name like a secret are masked at any depth. Reads only as much of
 * large arguments as fits into the text.
 */
export function maskedArguments(given: JsonObject): string {
  let text = '';
  for (const name in given) {
    if (text.length >= TOTAL_CHARACTERS) break;
    const value = SECRET_NAME.test(name) ? MASK : shortText(given[name]);
    text += `${text === '' ? '' : ', '}${name.slice(0, VALUE_CHARACTERS)}=${value}`;
  }
  return text.slice(0, TOTAL_CHARACTERS);
}

function shortText(value: JsonValue | undefined): string {
  const parts: string[] = [];
  render(value, VALUE_CHARACTERS, parts);
  return parts.join('').slice(0, VALUE_CHARACTERS);
}

/** Adds the text of a value to `parts` and returns the remaining number of characters. */
function render(value: JsonValue | undefined, maxChars: number, parts: string[]): number {
  if (maxChars <= 0) return maxChars;
  if (isObject(value)) {
    let left = maxChars;
    for (const name in value) {
      if (left <= 0) break;
      left = add(`${left === maxChars ? '{' : ','}${name.slice(0, VALUE_CHARACTERS)}:`, left, parts);
      left = SECRET_NAME.test(name) ? add(MASK, left, parts) : render(value[name], left, parts);
    }
    return add(left === maxChars ? '{}' : '}', left, parts);
  }
  if (Array.isArray(value)) {
    let left = add('[', maxChars, parts);
    for (const item of value as readonly JsonValue[]) {
      if (left <= 0) break;
      left = add(',', render(item, left, parts), parts);
    }
    return add(']', left, parts);
  }
  return add(typeof value === 'string' ? value.slice(0, maxChars) : String(value), maxChars, parts);
}

function add(text: string, maxChars: number, parts: string[]): number {
  parts.push(text);
  return maxChars - text.length;
}
