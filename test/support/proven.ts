/** The part of a JSON report of vitest that is read here. */
export interface TestReport {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}

/** Ids that are not deferred and that no passed test of the run names: its proofs were skipped, failed or not there. */
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

/** The ids at the end of a title, as `proves` writes them. */
function idsIn(title: string): readonly string[] {
  const [, list] = / \[([^[\]]+)\]$/.exec(title) ?? [];
  return list?.split(', ') ?? [];
}
