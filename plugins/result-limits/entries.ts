import {
  type Call,
  CallError,
  type CallResult,
  type CatalogDraft,
  type CatalogEntry,
  encode,
  type RawJson,
  RawObject,
  resultFromValue,
  type ToolEntry,
  toolFailure,
} from '@toolmgr/core';
import type { BudgetOf } from './budgets.ts';
import type { KeptResults } from './kept-results.ts';
import { partOf, READ_DEFINITION, READ_RESULT, readArguments } from './read-result.ts';
import { idFrom, URI_TEMPLATE } from './uri.ts';

/** The tool and the resources with which callers read kept results. */
export interface OwnEntries {
  readonly tool: ToolEntry;
  readonly template: CatalogEntry<'template'>;
}

export function ownEntries(address: string, kept: Pick<KeptResults, 'read'>, budgetOf: BudgetOf): OwnEntries {
  const pageBytes = Math.min(budgetOf(READ_RESULT) ?? MOST_OF_PAGE, MOST_OF_PAGE);
  return {
    tool: {
      kind: 'tool',
      key: READ_RESULT,
      original: READ_RESULT,
      backend: address,
      definition: READ_DEFINITION,
      shapedBy: [],
      isDispatcher: true, // what it reads was allowed when its tool was called
      async run({ arguments: given, caller }) {
        const wanted = readArguments(given);
        if ('problem' in wanted) return toolFailure(wanted.problem);
        const bytes = await kept.read(wanted.id, caller);
        return bytes === undefined ? toolFailure(NOT_FOUND) : partOf(bytes, wanted, pageBytes);
      },
    },
    template: {
      kind: 'template',
      key: URI_TEMPLATE,
      original: URI_TEMPLATE,
      backend: address,
      definition: TEMPLATE_DEFINITION,
      shapedBy: [],
      run: (call) => readResource(kept, call),
    },
  };
}

/** The same for an unknown id, one that has expired and one of another caller. */
const NOT_FOUND = 'there is no kept result with this id: it has expired, or was never yours';
const MOST_OF_PAGE = 65_536;

const TEMPLATE_DEFINITION = encode({
  uriTemplate: URI_TEMPLATE,
  name: 'kept result',
  description: 'A result of a tool that was too large to be shown whole, as JSON',
  mimeType: 'application/json',
});

async function readResource(kept: Pick<KeptResults, 'read'>, call: Call): Promise<CallResult> {
  if (call.method === 'completion/complete') return resultFromValue({ completion: { values: [] } });
  const { name: uri, caller, client } = call;
  const bytes = call.method === 'resources/read' ? await kept.read(idFrom(uri), caller) : undefined;
  if (bytes === undefined) {
    const code = client.era === '2025-11-25' ? LEGACY_NOT_FOUND : INVALID_PARAMS;
    throw new CallError({ code, message: NOT_FOUND, data: encode({ uri }) });
  }
  return resultFromValue({ contents: [{ uri, mimeType: 'application/json', text: bytes.toString() }] });
}

const LEGACY_NOT_FOUND = -32002;
const INVALID_PARAMS = -32602;

/** Adds the entries, and takes the output schemas of tools with a budget away: an answer without the result fits none. */
export function withOwnEntries({ tool, template }: OwnEntries, budgetOf: BudgetOf, address: string) {
  return (draft: CatalogDraft): CatalogDraft => ({
    ...draft,
    tools: [...draft.tools.map((each) => (budgetOf(each.key) === undefined ? each : unschematic(each, address))), tool],
    templates: [...draft.templates, template],
  });
}

function unschematic(tool: ToolEntry, address: string): ToolEntry {
  if (tool.hiddenBy !== undefined) return tool; // only inner calls reach it
  const definition = withoutOutputSchema(tool.definition);
  return definition === tool.definition ? tool : { ...tool, definition, shapedBy: [...tool.shapedBy, address] };
}

/** The same bytes for the same definition, so that what is cached by them survives a rebuild. */
function withoutOutputSchema(definition: RawJson): RawJson {
  const known = bare.get(definition);
  if (known !== undefined) return known;
  const members = RawObject.parse(definition);
  const made = members.has('outputSchema') ? members.without('outputSchema').toBytes() : definition;
  bare.set(definition, made);
  return made;
}

const bare = new WeakMap<RawJson, RawJson>();
