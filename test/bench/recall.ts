import type { RetrievalSet, SetRequest } from './retrieval-set.ts';

/** Quality of the results for one kind of requests; each figure is 0 to 1. */
export interface Recall {
  readonly requests: number;
  readonly at1: number;
  readonly at5: number;
  readonly at8: number;
  /** Mean reciprocal rank of the first wanted tool. */
  readonly mrr: number;
}

/** Number of ranks that count. */
export const DEPTH = 20;

/** Share of the wanted tools among the first 1, 5 and 8, over all requests; `ranked` gives names as the set names tools. */
export function recallOf(requests: readonly SetRequest[], ranked: (request: SetRequest) => readonly string[]): Recall {
  const lists = requests.map((request) => ({ wanted: request.wanted, names: ranked(request).slice(0, DEPTH) }));
  const mean = (figure: (list: (typeof lists)[number]) => number): number =>
    lists.reduce((sum, list) => sum + figure(list), 0) / Math.max(lists.length, 1);
  const at = (count: number): number =>
    mean(({ wanted, names }) => {
      const first = new Set(names.slice(0, count));
      return wanted.filter((name) => first.has(name)).length / wanted.length;
    });
  const place = ({ wanted, names }: (typeof lists)[number]): number =>
    1 / (names.findIndex((name) => wanted.includes(name)) + 1);
  return {
    requests: lists.length,
    at1: at(1),
    at5: at(5),
    at8: at(8),
    mrr: mean((list) => (list.names.some((name) => list.wanted.includes(name)) ? place(list) : 0)),
  };
}

/** Recall of each kind of requests of a set. */
export function recallOfSet(
  set: RetrievalSet,
  ranked: (request: SetRequest) => readonly string[],
): Readonly<Record<string, Recall>> {
  return Object.fromEntries(Object.entries(set.kinds).map(([kind, requests]) => [kind, recallOf(requests, ranked)]));
}
