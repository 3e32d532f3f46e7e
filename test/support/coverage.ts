import { requirements } from '../requirements.ts';
import { type Token, tokensOf } from './source-text.ts';

/** Input of the coverage check: ids of the ledger, test sources, ids that may be unproven. */
export interface CoverageInputs {
  readonly ledger: readonly { readonly id: string; readonly deferred?: string }[];
  readonly sources: ReadonlyMap<string, string>;
  readonly pending: readonly string[];
}

/** Differences between ledger and tests, one sentence each; empty when they agree. */
export function coverageFaults({ ledger, sources, pending }: CoverageInputs): readonly string[] {
  const known = new Set(ledger.map(({ id }) => id));
  const citations = [...sources].flatMap(([path, text]) => citationsOf(path, text, known));
  const cited = new Set(citations.map(({ id }) => id));
  const deferred = new Map(ledger.flatMap(({ id, deferred }) => (deferred ? [[id, deferred] as const] : [])));
  const waiting = new Set(pending);
  return [
    ...repeated(ledger.map(({ id }) => id)).map((id) => `${id} is a duplicate in the ledger`),
    ...repeated(pending).map((id) => `${id} is a duplicate in pending`),
    ...ledger
      .filter(({ id }) => !cited.has(id) && !deferred.has(id) && !waiting.has(id))
      .map(({ id }) => `${id} is neither cited nor deferred`),
    ...citations.filter(({ id }) => !known.has(id)).map(({ id, path }) => `${path} cites ${id}, which is unknown`),
    ...[...deferred].filter(([id]) => cited.has(id)).map(([id, why]) => `${id} is cited, but deferred: ${why}`),
    ...pending.filter((id) => cited.has(id)).map((id) => `${id} is cited and must leave pending`),
    ...pending.filter((id) => !known.has(id)).map((id) => `${id} is pending, but unknown`),
    ...pending.filter((id) => deferred.has(id)).map((id) => `${id} is pending and deferred`),
  ];
}

/** The ledger as input of `coverageFaults`. */
export const ledger: CoverageInputs['ledger'] = requirements;

export interface Citation {
  readonly path: string;
  readonly id: string;
}

/**
 * Reads the ids that a file cites: those in the first argument of `proves`. If that argument has an expression (a table of
 * cases), every string of the file that equals a known id counts too; `test/proven.ts` checks after the run that such ids
 * are in the names of passed tests.
 */
export function citationsOf(path: string, text: string, known: ReadonlySet<string>): readonly Citation[] {
  const tokens = tokensOf(text);
  const calls = tokens.flatMap((token, index) => (isCall(tokens, token, index) ? [firstArgument(tokens, index)] : []));
  const named = calls.flatMap((tokens) => tokens.flatMap(({ kind, text }) => (kind === 'string' ? [text] : [])));
  const hasTable = calls.some((tokens) => tokens.some(({ kind }) => kind === 'word'));
  const inTables = hasTable ? tokens.filter(({ kind, text }) => kind === 'string' && known.has(text)) : [];
  return [...new Set([...named, ...inTables.map(({ text }) => text)])].map((id) => ({ path, id }));
}

function isCall(tokens: readonly Token[], token: Token, index: number): boolean {
  if (token.kind !== 'word' || token.text !== 'proves') return false;
  return tokens[index + 1]?.text === '(' || tokens[index + 2]?.text === 'skipIf';
}

/** Tokens of the first argument of a `proves` call. */
function firstArgument(tokens: readonly Token[], index: number): readonly Token[] {
  const open = tokens[index + 1]?.text === '(' ? index + 1 : closing(tokens, index + 3) + 1;
  const first = tokens[open + 1];
  if (first?.text !== '[') return first === undefined ? [] : [first];
  return tokens.slice(open + 2, closing(tokens, open + 1));
}

function closing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length; at += 1) {
    const { kind, text } = tokens[at] ?? { kind: 'mark', text: '' };
    if (kind !== 'mark') continue;
    if ('([{'.includes(text)) depth += 1;
    if (')]}'.includes(text)) depth -= 1;
    if (depth === 0) return at;
  }
  return tokens.length;
}

function repeated(ids: readonly string[]): readonly string[] {
  return [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
}
