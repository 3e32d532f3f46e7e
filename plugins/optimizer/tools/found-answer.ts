import {
  type ClientContext,
  decodeObject,
  type Era,
  encode,
  itemBytes,
  type JsonObject,
  type RawJson,
  RawObject,
  resultFromBytes,
  type ToolEntry,
} from '@toolmgr/core';
import { shortened, typeOfSchema } from '../../shared/schema-type.ts';
import type { Answered } from './report-search.ts';

/** What a search came to. */
export interface SearchOutcome {
  /** Best first. */
  readonly found: readonly ToolEntry[];
  /** What all tools of the caller would take in a list. */
  readonly baselineBytes: number;
  /** Why meaning had no say, where it should have had. */
  readonly away: string | undefined;
}

/**
 * The result of a search: definitions as a list would show them, by their bytes, without `outputSchema` and `execution`,
 * which nobody needs for a call.
 *
 * Shape: `structuredContent` holds the definitions and figures. Many clients show their model the text as well, so that
 * says it once more only as far as a call needs it: a line with name, arguments and what the tool does. Clients of
 * revisions without `structuredContent` (before 2025-06-18) get all of it as text, and nothing else.
 */
export function foundAnswer(outcome: SearchOutcome, client: Pick<ClientContext, 'era' | 'protocolVersion'>): Answered {
  const { found, baselineBytes, away } = outcome;
  const items = found.map((tool) => leanItem(tool, client.era));
  const baseline = tokens(baselineBytes);
  const returned = tokens(items.reduce((sum, { length }) => sum + length, 0));
  const savings = baseline === 0 ? 0 : Math.round((1 - returned / baseline) * 10_000) / 100;
  const metrics = { baseline_tokens: baseline, returned_tokens: returned, savings_percent: savings };
  const notice = away === undefined ? undefined : `found by words only, not by meaning: ${away}`;
  const rest = encode({ token_metrics: metrics, ...(notice !== undefined && { notice }) }).subarray(1);
  const listed = items.flatMap((item, at) => (at === 0 ? [item] : [COMMA, item]));
  const structured = Buffer.concat([TOOLS, ...listed, TOOLS_END, rest]);
  const isKnown = client.protocolVersion === undefined || client.protocolVersion >= FIRST_STRUCTURED;
  const text = isKnown ? linesOf(items, notice) : structured.toString('utf8');
  const content = encode([{ type: 'text', text }]);
  const more = isKnown ? [Buffer.from(',"structuredContent":'), structured] : [];
  const result = resultFromBytes(Buffer.concat([Buffer.from('{"content":'), content, ...more, CLOSE]));
  return { result, found: found.length, savingsPercent: savings };
}

const FIRST_STRUCTURED = '2025-06-18'; // versions are dates
const TOOLS = Buffer.from('{"tools":[');
const TOOLS_END = Buffer.from('],');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');

function leanItem(tool: ToolEntry, era: Era): RawJson {
  return RawObject.parse(itemBytes(tool, era)).without('outputSchema', 'execution').toBytes();
}

const ARGUMENTS = { depth: 3, comments: 0 } as const;
const MAX_ARGUMENTS = 600;
const MAX_DESCRIPTION = 100;

function linesOf(items: readonly RawJson[], notice: string | undefined): string {
  const head =
    items.length === 0 ? 'No tool fits.' : 'Best first; call one with call_tool. Full definitions: structuredContent.';
  const lines = items.map((item) => lineOf(decodeObject(item) ?? {}));
  return [head, ...lines, ...(notice === undefined ? [] : [`(${notice})`])].join('\n');
}

function lineOf({ name, description, inputSchema }: JsonObject): string {
  const about = typeof description === 'string' ? `: ${shortened(description, MAX_DESCRIPTION)}` : '';
  return `- ${name}(${shortened(typeOfSchema(inputSchema, ARGUMENTS), MAX_ARGUMENTS)})${about}`;
}

/** The usual rule of thumb: four bytes of JSON are a token. */
function tokens(bytes: number): number {
  return Math.ceil(bytes / 4);
}
