import { isObject, type JsonObject, type JsonValue, parsedJson } from '@toolmgr/core';
import { shortened } from '@toolmgr/plugins/kit/settings';

/** What is in a result, one line for each part: kinds, sizes, members of JSON. */
export function shapeOf({ content, structuredContent }: JsonObject): readonly string[] {
  const blocks = Array.isArray(content) ? (content as JsonValue[]) : [];
  const lines = blocks.slice(0, MAX_BLOCKS).map((block, index) => `content[${index}]: ${blockShape(block)}`);
  if (blocks.length > MAX_BLOCKS) lines.push(`and ${blocks.length - MAX_BLOCKS} more blocks of content`);
  if (structuredContent !== undefined) lines.push(`structuredContent: ${jsonShape(structuredContent)}`);
  return lines;
}

/** The text blocks of a result, one after the other; `undefined` without any. */
export function textOf({ content }: JsonObject): string | undefined {
  const blocks = Array.isArray(content) ? (content as JsonValue[]).filter(isObject) : [];
  const texts = blocks.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  return texts.length === 0 ? undefined : texts.join('\n');
}

/** Most bytes of a result that is decoded: more would stop other calls for too long. */
export const MOST_DECODED = 4_194_304;

const MAX_BLOCKS = 8;
const MAX_KEYS = 12;
const MAX_KEY = 40;
const MAX_WORD = 100;
const MAX_PARSED = 1_048_576; // characters of a text that is looked into as JSON

function blockShape(block: JsonValue): string {
  if (!isObject(block)) return 'not an object';
  const { type, text, data, mimeType, uri, resource } = block;
  const kind = [type, mimeType].filter((word) => typeof word === 'string').map((word) => shortened(word, MAX_WORD));
  const parts = [kind.join(' ') || 'of no type'];
  if (typeof uri === 'string') parts.push(shortened(uri, MAX_WORD));
  if (typeof text === 'string') parts.push(textShape(text));
  if (typeof data === 'string') parts.push(`${grouped(Math.floor((data.length * 3) / 4))} bytes`);
  if (isObject(resource)) parts.push(blockShape({ ...resource, resource: undefined }));
  return parts.join(', ');
}

function textShape(text: string): string {
  const json = OPENS_JSON.test(text) && text.length <= MAX_PARSED ? parsedJson(text) : undefined;
  const size = `${grouped(Buffer.byteLength(text))} bytes, ${grouped(lineCount(text))} lines`;
  return json === undefined ? size : `${size}, JSON ${jsonShape(json)}`;
}

const OPENS_JSON = /^\s{0,100}[[{]/;

function jsonShape(value: JsonValue): string {
  if (Array.isArray(value)) {
    const [first] = value as readonly JsonValue[];
    return `array of ${grouped(value.length)}${isObject(first) ? `, the first is an ${jsonShape(first)}` : ''}`;
  }
  if (!isObject(value)) return value === null ? 'null' : typeof value;
  const keys = Object.keys(value);
  const named = keys.slice(0, MAX_KEYS).map((key) => keyShape(key, value[key] ?? null));
  const more = keys.length > MAX_KEYS ? ` and ${grouped(keys.length - MAX_KEYS)} more` : '';
  return keys.length === 0 ? 'empty object' : `object with ${named.join(', ')}${more}`;
}

function keyShape(key: string, value: JsonValue): string {
  const length = Array.isArray(value) ? `[${value.length}]` : '';
  return `${JSON.stringify(shortened(key, MAX_KEY))}${length}`;
}

function lineCount(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

/** 12,345 */
export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
