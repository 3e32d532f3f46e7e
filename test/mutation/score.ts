/** What Stryker writes, as far as it is read here. */
export interface Report {
  readonly files: Readonly<Record<string, { readonly mutants: readonly Mutant[] }>>;
}

interface Mutant {
  readonly status: string;
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly location: { readonly start: { readonly line: number } };
}

/** The score of an area; `score` is the share of mutants that tests noticed, in percent. */
export interface Score {
  readonly files: number;
  readonly mutants: number;
  readonly killed: number;
  readonly timeout: number;
  readonly survived: number;
  readonly noCoverage: number;
  readonly score: number;
}

/** Counts the mutants of a report; ignored ones and those that do not compile are none. */
export function scoreOf({ files }: Report): Score {
  const all = Object.values(files).flatMap(({ mutants }) => mutants);
  const count = (status: string): number => all.filter((mutant) => mutant.status === status).length;
  const [killed, timeout, survived] = [count('Killed'), count('Timeout'), count('Survived')];
  const noCoverage = count('NoCoverage');
  const mutants = killed + timeout + survived + noCoverage;
  const score = mutants === 0 ? 100 : Number(((100 * (killed + timeout)) / mutants).toFixed(1));
  return { files: Object.keys(files).length, mutants, killed, timeout, survived, noCoverage, score };
}

/** Mutants that no test noticed, one line each. */
export function survivors({ files }: Report): readonly string[] {
  return Object.entries(files).flatMap(([path, { mutants }]) =>
    mutants
      .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
      .map(
        ({ status, mutatorName, replacement = '', location }) =>
          `${status === 'Survived' ? 'survived' : 'not covered'}: ${path}:${location.start.line} ${mutatorName}: ${replacement.replace(/\s+/g, ' ').slice(0, 100)}`,
      ),
  );
}
