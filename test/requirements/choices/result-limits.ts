import type { Section } from '../section.ts';

/** Results over a budget. */
export const resultLimits = [
  {
    source: 'choice: budgets of results (decision 082)',
    says: {
      'choice.result-limits.summary':
        'a result over its budget is replaced by its shape, an id and a link, smaller than any budget',
      'choice.result-limits.resource': 'the resource of a kept result has all of it',
      'choice.result-limits.pages': 'read_result reads a kept result in parts that fit the budget',
      'choice.result-limits.search': 'read_result finds text in a kept result',
      'choice.result-limits.path': 'read_result takes a value out of JSON by names and indices',
      'choice.result-limits.structured':
        'structuredContent is left out with the result, and tools with a budget have no outputSchema in lists',
      'choice.result-limits.untouched': 'a result within its budget passes as the bytes of the backend',
      'choice.result-limits.inner-calls':
        'steps of composite tools and scripts get whole results; the limit is for what leaves the gateway',
      'choice.result-limits.call-tool': 'the result of call_tool has the budget of the tool that it calls',
      'choice.result-limits.owner': 'another caller with the id finds nothing, as with an id that never was',
      'choice.result-limits.sealed': 'the store holds neither the id nor readable bytes of a result',
      'choice.result-limits.backend-claims': 'no backend gets a request for, or answers, a URI of kept results',
      'choice.result-limits.expires': 'a kept result is gone after keepFor',
      'choice.result-limits.caller-space':
        'the oldest results of a caller make space for its new ones, and no others do',
      'choice.result-limits.no-space':
        'a result that cannot be kept, for lack of space or of the store, is cut to its budget and says so',
      'choice.result-limits.metrics': 'the metrics count kept results and their bytes',
      'choice.result-limits.replicas': 'replicas with one Redis read the results that the others keep',
    },
  },
] as const satisfies readonly Section[];
