/** The members of vitest's JSON report that are used here. */
export interface TestReport {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly title: string;
      readonly status: string;
      readonly ancestorTitles?: readonly string[];
    }[];
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

type Ledger = readonly { readonly id: string; readonly deferred?: string }[];

/** Compares the ledger with the titles of a run's tests. */
export function ledgerResult(ledger: Ledger, { testResults }: TestReport): LedgerResult {
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const idsWith = (isWanted: (status: string) => boolean): ReadonlySet<string> =>
    new Set(tests.filter(({ status }) => isWanted(status)).flatMap(({ title }) => idsIn(title)));
  const passed = idsWith((status) => status === 'passed');
  const notRun = idsWith(isSkippedStatus);
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

/**
 * The table that ends a run, and a line with the counts: what it proves, what was not tried because something is not on this machine, and
 * what to install for it.
 */
export function resultLines(ledger: Ledger, report: TestReport): readonly string[] {
  const { total, skipped, unproven } = ledgerResult(ledger, report);
  const proven = total - skipped.length - unproven.length;
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const rows = [
    ['', 'tests', 'requirements', 'to try them too'],
    ['proven here', tests.filter(({ status }) => status === 'passed').length, proven, ''],
    ...notTried(skipped, report).map((one) => [`not tried: ${one.reason}`, one.tests, one.ids.length, one.install]),
  ].map((row) => row.map(String));
  const [first = 0, second = 0, third = 0] = [0, 1, 2].map((at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  );
  const left = [
    ...(skipped.length > 0 ? [`${skipped.length} not proven here (skipped)`] : []),
    ...(unproven.length > 0 ? [`${unproven.length} not proven`] : []),
  ];
  return [
    ...rows.map(([what = '', count = '', ids = '', install = '']) =>
      `${what.padEnd(first)}  ${count.padStart(second)}  ${ids.padStart(third)}  ${install}`.trimEnd(),
    ),
    [`${proven} of ${total} requirements proven by this run`, ...left].join(', '),
  ];
}

const isSkippedStatus = (status: string): boolean => ['pending', 'skipped', 'todo'].includes(status);

/** Tests that were skipped for one reason. */
interface NotTried {
  /** What this machine does not have, as the tests say it. */
  readonly reason: string;
  /** The command that installs or builds it; empty when they do not say it. */
  readonly install: string;
  readonly tests: number;
  /** Ids that are not proven here because of it. */
  readonly ids: readonly string[];
}

/** The skipped tests of a run by what was missing, most tests first. */
function notTried(skippedIds: readonly string[], { testResults }: TestReport): readonly NotTried[] {
  const unproven = new Set(skippedIds);
  const found = new Map<string, { install: string; tests: number; ids: Set<string> }>();
  for (const { title, status, ancestorTitles = [] } of testResults.flatMap((one) => one.assertionResults)) {
    if (!isSkippedStatus(status)) continue;
    const { reason, install } = reasonIn([...ancestorTitles, title]);
    const row = found.get(reason) ?? { install, tests: 0, ids: new Set() };
    row.tests += 1;
    for (const id of idsIn(title)) if (unproven.has(id)) row.ids.add(id);
    found.set(reason, row);
  }
  return [...found]
    .map(([reason, { ids, ...row }]) => ({ reason, ...row, ids: [...ids] }))
    .toSorted((a, b) => b.tests - a.tests);
}

/** The reason that a skipped test or a group around it has at its end, and the command in it. */
function reasonIn(titles: readonly string[]): { readonly reason: string; readonly install: string } {
  const text = titles.map((title) => REASON.exec(title)?.[1]).find((reason) => reason !== undefined);
  if (text === undefined) return { reason: 'does not apply here, or says no reason', install: '' };
  const [, debian, rig] = INSTALL.exec(text) ?? [];
  const install = debian ?? rig ?? '';
  return { reason: text.replace(INSTALL, '').replace(/ on this machine$/, ''), install };
}

const REASON = /(?:skipped: |(?= no \S+ (?:on this machine|rig)) )(.*?)\)?$/s;
const INSTALL = / \(Debian: ([^)]*)\)?|, (npm run rigs [\w-]+)/;

/** The ids that `proves` has added to a title; a skipped test has its reason behind them. */
function idsIn(title: string): readonly string[] {
  const [, list] = / \[([^[\]]+)\](?: \(skipped: .*\))?$/s.exec(title) ?? [];
  return list?.split(', ') ?? [];
}
