import { type CallResult, type ClientContext, type JsonObject, RawObject, resultFromValue } from '@toolmgr/core';
import { estimatedTokens, shortened } from '@toolmgr/plugins/kit/settings';
import { fitting } from './fitting.ts';
import { READ_RESULT } from './read-result.ts';
import { grouped, MOST_DECODED, shapeOf, textOf } from './shape.ts';
import { uriOf } from './uri.ts';

/** What became of a result over its budget. */
export type Outcome = { readonly id: string } | { readonly because: string };

/** A result over its budget, and for whom. */
export interface OverBudget {
  readonly tool: string;
  readonly result: CallResult;
  readonly budget: number;
  readonly keepForMs: number;
  readonly outcome: Outcome;
  readonly client: Pick<ClientContext, 'protocolVersion'>;
}

/**
 * What the caller gets in place of the result, smaller than any budget: how to read it, what is in it, how its text begins. There is
 * no `structuredContent`, because a part of one conforms to no schema; the list shows these tools without `outputSchema`. When the
 * result is not kept, the text has as much of it as the budget allows.
 */
export function answerFor(over: OverBudget): CallResult {
  const { result, outcome, client, budget } = over;
  const isKept = 'id' in outcome;
  const most = isKept ? SUMMARY_BYTES : Math.min(budget, MOST_UNKEPT) - ENVELOPE_BYTES;
  const text = fitting([...headOf(over), ...aboutOf(result)].join('\n'), most);
  // revisions are dates; older ones have no links in results
  const isLinked = isKept && (client.protocolVersion ?? FIRST_LINKS) >= FIRST_LINKS;
  const link = isLinked ? [linkTo(outcome.id, result.bytes.length)] : [];
  return resultFromValue({
    content: [{ type: 'text', text }, ...link],
    ...(result.isError ? { isError: true } : {}),
  });
}

const REMOVED = ['structuredContent', '_meta'];
const SUMMARY_BYTES = 3_000;
const ENVELOPE_BYTES = 600;
const MOST_UNKEPT = 65_536;
const FIRST_LINKS = '2025-06-18';

function headOf({ tool, result, budget, keepForMs, outcome }: OverBudget): readonly string[] {
  const { length } = result.bytes;
  const size = `The result of ${shortened(tool, 100)} is too large to be shown whole: ${grouped(length)} bytes, about ${grouped(estimatedTokens(length))} tokens; the most is ${grouped(budget)} bytes.`;
  if ('because' in outcome) return [size, `It is cut, and the rest is gone: ${outcome.because}. Ask for less.`];
  return [
    size,
    `The gateway keeps it for ${grouped(Math.ceil(keepForMs / 1000))} s. Read it in parts with ${READ_RESULT} and the id ${outcome.id}, or as the resource ${uriOf(outcome.id)}. Calling the tool again is not necessary.`,
  ];
}

function aboutOf(result: CallResult): readonly string[] {
  if (result.bytes.length > MOST_DECODED)
    return ['As JSON it begins:', result.bytes.subarray(0, MOST_UNKEPT).toString()];
  const { value } = result;
  const text = textOf(value);
  const structured = RawObject.parse(result.bytes).get('structuredContent')?.subarray(0, MOST_UNKEPT).toString();
  return [
    ...REMOVED.flatMap((name) => (value[name] === undefined ? [] : [`${name} is left out here.`])),
    ...shapeOf(value),
    ...(text === undefined ? [] : ['Its text begins:', text]),
    ...(structured === undefined ? [] : ['Its structuredContent begins:', structured]),
  ];
}

function linkTo(id: string, size: number): JsonObject {
  return { type: 'resource_link', uri: uriOf(id), name: 'kept result', mimeType: 'application/json', size };
}
