/** The members of vitest's JSON report that are used here. */
export interface TestReport {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}

/** Ids that are neither deferred nor in the name of a passed test: their proofs were skipped, failed or are missing. */
export function unprovenLines(
  ledger: readonly { readonly id: string; readonly deferred?: string }[],
  { testResults }: TestReport,
): readonly string[] {
  const passed = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter((test) => test.status === 'passed'),
  );
  const proven = new Set(passed.flatMap(({ title }) => idsIn(title)));
  return ledger.filter(({ id, deferred }) => deferred === undefined && !proven.has(id)).map(({ id }) => id);
}

/** The ids that `proves` has added to a title. */
function idsIn(title: string): readonly string[] {
  const [, list] = / \[([^[\]]+)\]$/.exec(title) ?? [];
  return list?.split(', ') ?? [];
}
