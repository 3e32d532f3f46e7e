import type { Section } from '../section.ts';

/** How tools are ranked, which the documents leave open. */
export const search = [
  {
    source: 'choice: search of tools',
    says: {
      'choice.search.one-scale':
        'words and meaning are put on one scale and mixed by the ratio; at 0 the words decide alone, at 1 the meaning',
      'choice.search.distance': 'what is too far by meaning is dropped there and may still be found by words',
      'choice.search.without-vectors': 'without vectors of the query the words decide alone, whatever the ratio',
      'choice.search.by-name': 'a tool that the query calls by its name comes first',
      'choice.search.parts': 'a query that asks for several things brings the tools of each of them',
      'choice.search.long-questions': 'a query of more parts than are looked up keeps all of its words in its parts',
      'choice.search.values':
        'what a query holds of values (quotes, addresses, names of files, ids) counts less than its other words',
      'choice.search.far-behind': 'with words and meaning together, what scores under 0.4 of the best is left out',
      'choice.search.allowed':
        'one index serves all callers, and tools that a caller may not find do not press theirs down',
      'choice.search.order': 'equal scores are in the order of names, whatever the order of the catalogue',
      'choice.search.no-stuffing': 'a tool that repeats words in its description gains no place by it',
      'choice.search.bounds': 'queries and definitions of any size are answered in bounded time',
    },
  },
] as const satisfies readonly Section[];
