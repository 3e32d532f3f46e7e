import {
  type CallResult,
  encode,
  isObject,
  type JsonObject,
  parsedJson,
  RawObject,
  resultFromValue,
  toolFailure,
} from '@toolmgr/core';
import { valueAt } from './json-path.ts';
import { charactersOf, linesOf, matchesOf, type Page, type PageRequest } from './page.ts';
import { MOST_DECODED, textOf } from './shape.ts';
import { idFrom } from './uri.ts';

/** The name of the tool in every gateway. */
export const READ_RESULT = 'read_result';

/** The arguments of the tool. */
export interface ReadArguments {
  readonly id: string;
  readonly part: (typeof PARTS)[number] | undefined;
  readonly path: string | undefined;
  readonly search: string | undefined;
  readonly unit: (typeof UNITS)[number];
  readonly offset: number;
  readonly limit: number | undefined;
}

const PARTS = ['text', 'structured', 'all'] as const;
const UNITS = ['characters', 'lines'] as const;
const MAX_PATH = 500;
const MAX_SEARCH = 200;
const MAX_COUNT = 1_000_000_000;

/** The arguments, or what is wrong with them. */
export function readArguments(given: JsonObject): ReadArguments | { readonly problem: string } {
  const { id, part, path, search, unit = 'characters', offset = 0, limit, ...others } = given;
  const [other] = Object.keys(others);
  if (other !== undefined) return { problem: `${READ_RESULT} has no argument ${JSON.stringify(other.slice(0, 100))}` };
  if (typeof id !== 'string' || id === '') return { problem: 'id must be the id or the URI of a kept result' };
  if (part !== undefined && !isOneOf(PARTS, part)) return { problem: `part must be one of ${PARTS.join(', ')}` };
  if (!isOneOf(UNITS, unit)) return { problem: `unit must be one of ${UNITS.join(', ')}` };
  if (path !== undefined && !isText(path, MAX_PATH))
    return { problem: `path must be a text of 1 to ${MAX_PATH} characters` };
  if (search !== undefined && !isText(search, MAX_SEARCH))
    return { problem: `search must be a text of 1 to ${MAX_SEARCH} characters` };
  if (!isCount(offset, 0)) return { problem: 'offset must be a whole number from 0' };
  if (limit !== undefined && !isCount(limit, 1)) return { problem: 'limit must be a whole number from 1' };
  return { id: idFrom(id), part, path, search, unit, offset, limit };
}

/** A part of a kept result, as the arguments say; at most about `bytes` long. */
export function partOf(kept: Buffer, wanted: ReadArguments, bytes: number): CallResult {
  const chosen = chosenText(kept, wanted);
  if ('problem' in chosen) return toolFailure(chosen.problem);
  const page = pageOf(chosen.text, wanted, bytes - ENVELOPE_BYTES);
  return resultFromValue({
    content: [
      { type: 'text', text: `[${page.about}]` },
      { type: 'text', text: page.text },
    ],
  });
}

const ENVELOPE_BYTES = 600;

function pageOf(text: string, { search, unit, offset, limit }: ReadArguments, bytes: number): Page {
  const request: PageRequest = { offset, limit, bytes };
  if (search !== undefined) return matchesOf(text, search, request);
  return unit === 'lines' ? linesOf(text, request) : charactersOf(text, request);
}

type Chosen = { readonly text: string } | { readonly problem: string };

/**
 * Without a part: the text; else the structured content; else everything. A path needs JSON, so there the structured content is first.
 * A result that is too large to be decoded for each page is read as it is.
 */
function chosenText(kept: Buffer, { part, path }: ReadArguments): Chosen {
  if (kept.length > MOST_DECODED) {
    const isWhole = path === undefined && (part ?? 'all') === 'all';
    return isWhole ? { text: kept.toString() } : { problem: TOO_LARGE };
  }
  const structured = (): string | undefined => RawObject.parse(kept).get('structuredContent')?.toString();
  const texts = (): string | undefined => textOf(objectFrom(kept));
  const [first, second] = path === undefined ? [texts, structured] : [structured, texts];
  const readers = { text: texts, structured, all: () => kept.toString() };
  const text = part === undefined ? (first() ?? second() ?? kept.toString()) : readers[part]();
  if (text === undefined) return { problem: `the result has no ${part === 'text' ? 'text' : 'structuredContent'}` };
  return path === undefined ? { text } : atPath(text, path);
}

const TOO_LARGE =
  'the result is too large to be decoded: read it as JSON by offset, or search it, without path and with no part but all';

function atPath(text: string, path: string): Chosen {
  const root = parsedJson(text);
  if (root === undefined) return { problem: 'path needs JSON, and this text is none: read it by offset, or search it' };
  const found = valueAt(root, path);
  if ('problem' in found) return found;
  if (typeof found.value === 'string') return { text: found.value };
  try {
    return { text: JSON.stringify(found.value) };
  } catch {
    return { problem: 'the value is nested too deeply: use a longer path' };
  }
}

function objectFrom(kept: Buffer): JsonObject {
  const value = parsedJson(kept);
  return isObject(value) ? value : {};
}

function isOneOf<T extends string>(words: readonly T[], value: unknown): value is T {
  return (words as readonly unknown[]).includes(value);
}

function isText(value: unknown, most: number): value is string {
  return typeof value === 'string' && value.length >= 1 && value.length <= most;
}

function isCount(value: unknown, least: number): value is number {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= MAX_COUNT;
}

/** The definition of the tool. */
export const READ_DEFINITION = encode({
  name: READ_RESULT,
  title: 'Read a kept result',
  description:
    'Reads a part of a result that was too large to be shown whole. Such a result says its id, and what is in it. Use search to find ' +
    'places, path to take a value out of JSON, and offset with limit to read on; each answer says the next offset.',
  inputSchema: {
    type: 'object',
    properties: {
      id: { type: 'string', description: 'The id or the URI of the result.' },
      part: {
        type: 'string',
        enum: [...PARTS],
        description:
          'text: its text blocks. structured: its structuredContent as JSON. all: the whole result as JSON. Default: what there is, text first; with path, structured first. A result over 4 MiB has only all.',
      },
      path: { type: 'string', description: 'A path into JSON, of names and indices: items[0].name' },
      search: {
        type: 'string',
        description: 'Text to find, without regard to case; offset and limit count places then.',
      },
      unit: { type: 'string', enum: [...UNITS], description: 'What offset and limit count. Default: characters.' },
      offset: { type: 'integer', minimum: 0, description: 'Where to begin. Default: 0.' },
      limit: { type: 'integer', minimum: 1, description: 'How much to read. Default: as much as fits.' },
    },
    required: ['id'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
});
