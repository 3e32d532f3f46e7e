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
import { estimatedTokens, shortened, typeOfSchema } from '@toolmgr/plugins/kit/settings';
import type { MeasuredResult } from './report-search.ts';

/** The outcome of a search. */
export interface SearchOutcome {
  /** Best first. */
  readonly found: readonly ToolEntry[];
  /** Size of all tools of the caller in a list. */
  readonly baselineBytes: number;
  /** Why the search used keywords only, when it should have used vectors. */
  readonly unavailable: string | undefined;
}

/**
 * The result of a search: the listed definitions without `outputSchema` and `execution`, which a call does not need.
 *
 * Shape: `structuredContent` has the definitions and figures. Many clients also show the text to their model, so the text has
 * only one line per tool: name, arguments and a short description. Clients of revisions without `structuredContent` (before
 * 2025-06-18) get everything as text.
 */
export function searchResult(
  outcome: SearchOutcome,
  client: Pick<ClientContext, 'era' | 'protocolVersion'>,
): MeasuredResult {
  const { found, baselineBytes, unavailable } = outcome;
  const items = found.map((tool) => leanItem(tool, client.era));
  const baseline = estimatedTokens(baselineBytes);
  const returned = estimatedTokens(items.reduce((sum, { length }) => sum + length, 0));
  const savings = baseline === 0 ? 0 : Math.round((1 - returned / baseline) * 10_000) / 100;
  const metrics = { baseline_tokens: baseline, returned_tokens: returned, savings_percent: savings };
  const notice = unavailable === undefined ? undefined : `found by keywords only, not by meaning: ${unavailable}`;
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
    items.length === 0
      ? 'No tool matches.'
      : 'Best first; call one with call_tool. Full definitions: structuredContent.';
  const lines = items.map((item) => lineOf(decodeObject(item) ?? {}));
  return [head, ...lines, ...(notice === undefined ? [] : [`(${notice})`])].join('\n');
}

function lineOf({ name, description, inputSchema }: JsonObject): string {
  const about = typeof description === 'string' ? `: ${shortened(description, MAX_DESCRIPTION)}` : '';
  return `- ${name}(${shortened(typeOfSchema(inputSchema, ARGUMENTS), MAX_ARGUMENTS)})${about}`;
}
