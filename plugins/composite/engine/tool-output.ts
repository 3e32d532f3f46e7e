import { isObject, type JsonObject, type JsonValue, type StepOutput } from '@toolmgr/core';

/**
 * Converts a tool result to the output that later steps read.
 *
 * Shape: `output` is `structuredContent` when that is an object, else the content by kind: `text`, `text_1`, …; `image_0`, …;
 * `resource`, `resource_1`, …; `audio_0`, …; `link_0`, …. `content` is always the latter.
 */
export function outputFromResult(result: JsonObject): StepOutput {
  const content = contentMap(Array.isArray(result.content) ? (result.content as readonly JsonValue[]) : []);
  return { output: isObject(result.structuredContent) ? result.structuredContent : content, content };
}

/** The error text of a failed tool: its first non-empty text, else `error`, `message` or `text` of its structured content. */
export function errorText(result: JsonObject): string {
  const items = Array.isArray(result.content) ? (result.content as readonly JsonValue[]) : [];
  for (const item of items) {
    if (isObject(item) && item.type === 'text' && typeof item.text === 'string' && item.text !== '') return item.text;
  }
  const structured = isObject(result.structuredContent) ? result.structuredContent : {};
  for (const key of ['error', 'message', 'text']) {
    const said = structured[key];
    if (typeof said === 'string' && said !== '') return said;
  }
  return 'the tool failed without an error text';
}

function contentMap(items: readonly JsonValue[]): JsonObject {
  const counts: Record<string, number> = {};
  const entries: [string, JsonValue][] = [];
  for (const item of items) {
    if (!isObject(item) || typeof item.type !== 'string') continue;
    const kind = KINDS.get(item.type);
    const value = kind?.value(item);
    if (kind === undefined || value === undefined) continue;
    const count = counts[kind.name] ?? 0;
    counts[kind.name] = count + 1;
    entries.push([count === 0 && kind.isFirstPlain ? kind.name : `${kind.name}_${count}`, value]);
  }
  return Object.fromEntries(entries);
}

interface Kind {
  readonly name: string;
  /** Whether the first item has no number. */
  readonly isFirstPlain: boolean;
  value(item: JsonObject): JsonValue | undefined;
}

/** How each content type of MCP is stored. */
const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['text', { name: 'text', isFirstPlain: true, value: ({ text }) => text }],
  ['image', { name: 'image', isFirstPlain: false, value: ({ data }) => data }],
  ['audio', { name: 'audio', isFirstPlain: false, value: ({ data }) => data }],
  ['resource', { name: 'resource', isFirstPlain: true, value: ({ resource }) => resource }],
  ['resource_link', { name: 'link', isFirstPlain: false, value: ({ uri }) => uri }],
]);
