/** The members of vitest's JSON report that are used here. */
export interface TestReport {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}

/** What a run shows of the ledger: counts, and the ids that it does not prove. */
export interface LedgerResult {
  /** Requirements that are not deferred. */
  readonly total: number;
  /** Ids of which every proof was skipped. */
  readonly skipped: readonly string[];
  /** Ids without a passed test of which a proof failed, or that no test of the run names. */
  readonly unproven: readonly string[];
}

/** Compares the ledger with the titles of a run's tests. */
export function ledgerResult(
  ledger: readonly { readonly id: string; readonly deferred?: string }[],
  { testResults }: TestReport,
): LedgerResult {
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const idsWith = (isWanted: (status: string) => boolean): ReadonlySet<string> =>
    new Set(tests.filter(({ status }) => isWanted(status)).flatMap(({ title }) => idsIn(title)));
  const passed = idsWith((status) => status === 'passed');
  const notRun = idsWith((status) => status === 'pending' || status === 'skipped' || status === 'todo');
  const failed = idsWith((status) => status === 'failed');
  const due = ledger.filter(({ deferred }) => deferred === undefined).map(({ id }) => id);
  const missing = due.filter((id) => !passed.has(id));
  const isSkipped = (id: string): boolean => notRun.has(id) && !failed.has(id);
  return {
    total: due.length,
    skipped: missing.filter(isSkipped),
    unproven: missing.filter((id) => !isSkipped(id)),
  };
}

/** The ids that `proves` has added to a title; a skipped test has its reason behind them. */
function idsIn(title: string): readonly string[] {
  const [, list] = / \[([^[\]]+)\](?: \(skipped: .*\))?$/s.exec(title) ?? [];
  return list?.split(', ') ?? [];
}
