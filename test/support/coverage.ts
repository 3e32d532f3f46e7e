import { requirements } from '../requirements.ts';
import { type Token, tokensOf } from './source-text.ts';

/** What the coverage check looks at: ids of the ledger, sources that cite, ids that may still be unproven. */
export interface CoverageInputs {
  readonly ledger: readonly { readonly id: string; readonly deferred?: string }[];
  readonly sources: ReadonlyMap<string, string>;
  readonly pending: readonly string[];
}

/** Names every gap between ledger and tests, one sentence each; an empty list means that they agree. */
export function coverageFaults({ ledger, sources, pending }: CoverageInputs): readonly string[] {
  const known = new Set(ledger.map(({ id }) => id));
  const citations = [...sources].flatMap(([path, text]) => citationsOf(path, text, known));
  const cited = new Set(citations.map(({ id }) => id));
  const deferred = new Map(ledger.flatMap(({ id, deferred }) => (deferred ? [[id, deferred] as const] : [])));
  const waiting = new Set(pending);
  return [
    ...repeated(ledger.map(({ id }) => id)).map((id) => `${id} stands twice in the ledger`),
    ...repeated(pending).map((id) => `${id} stands twice in pending`),
    ...ledger
      .filter(({ id }) => !cited.has(id) && !deferred.has(id) && !waiting.has(id))
      .map(({ id }) => `${id} is neither cited nor deferred`),
    ...citations.filter(({ id }) => !known.has(id)).map(({ id, path }) => `${path} cites ${id}, which is not known`),
    ...[...deferred].filter(([id]) => cited.has(id)).map(([id, why]) => `${id} is cited, yet deferred: ${why}`),
    ...pending.filter((id) => cited.has(id)).map((id) => `${id} is cited and must leave pending`),
    ...pending.filter((id) => !known.has(id)).map((id) => `${id} is pending, yet not known`),
    ...pending.filter((id) => deferred.has(id)).map((id) => `${id} is pending and deferred`),
  ];
}

/** Ids of the ledger in full, as `coverageFaults` takes it. */
export const ledger: CoverageInputs['ledger'] = requirements;

interface Citation {
  readonly path: string;
  readonly id: string;
}

/**
 * Reads the ids a file cites.
 *
 * Shape: in a file that calls `proves`, the ids of the first argument and every string equal to a known id (a table
 * of cases may hold them); in an example, a comment line `// proves ask.embedding.fastify, ask.testing.kit`.
 */
function citationsOf(path: string, text: string, known: ReadonlySet<string>): readonly Citation[] {
  const tokens = tokensOf(text);
  const calls = tokens.flatMap((token, index) => (isCall(tokens, token, index) ? [firstArgument(tokens, index)] : []));
  const elsewhere = tokens.filter(({ kind, text }) => kind === 'string' && known.has(text)).map(({ text }) => text);
  const ids = calls.length > 0 ? [...calls.flat(), ...elsewhere] : [];
  return [...new Set([...ids, ...commented(path, text)])].map((id) => ({ path, id }));
}

function isCall(tokens: readonly Token[], token: Token, index: number): boolean {
  if (token.kind !== 'word' || token.text !== 'proves') return false;
  return tokens[index + 1]?.text === '(' || tokens[index + 2]?.text === 'skipIf';
}

function firstArgument(tokens: readonly Token[], index: number): readonly string[] {
  const open = tokens[index + 1]?.text === '(' ? index + 1 : closing(tokens, index + 3) + 1;
  const first = tokens[open + 1];
  if (first?.kind === 'string') return [first.text];
  if (first?.text !== '[') return [];
  const end = closing(tokens, open + 1);
  return tokens.slice(open + 1, end).flatMap(({ kind, text }) => (kind === 'string' ? [text] : []));
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

function commented(path: string, text: string): readonly string[] {
  if (!path.endsWith('/story.ts')) return [];
  return [...text.matchAll(/^\s*\/\/ proves (.+)$/gm)].flatMap(([, list = '']) => list.split(/[\s,]+/).filter(Boolean));
}

function repeated(ids: readonly string[]): readonly string[] {
  return [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
}
