import { pending } from '../../test/requirements/pending.ts';
import { requirements } from '../../test/requirements.ts';
import { code, page, table } from './markdown.ts';

/** docs/reference/requirements.md */
export function requirementsPage(): string {
  const waiting = new Set(pending);
  const areas = Object.groupBy(requirements, ({ id }) => id.slice(0, id.indexOf('.')));
  const counts = (lines: typeof requirements): readonly number[] => {
    const deferred = lines.filter((line) => line.deferred !== undefined).length;
    const unproven = lines.filter(({ id }) => waiting.has(id)).length;
    return [lines.length, lines.length - deferred - unproven, unproven, deferred];
  };
  const reasons = Object.groupBy(
    requirements.filter((line) => line.deferred !== undefined),
    ({ deferred = '' }) => deferred,
  );
  return page('Requirements', 'the ledger `test/requirements.ts` and the list `test/requirements/pending.ts`', [
    'Every requirement that can be checked has an id. A test that proves it cites the id, and another test fails when an id is neither cited nor deferred. *Open* requirements are not cited yet; *deferred* ones need a part that is not built.',
    table(
      ['area', 'about', 'lines', 'proven', 'open', 'deferred'],
      [
        ...Object.entries(areas)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([area, lines = []]) => [code(area), ABOUT[area] ?? '', ...counts(lines).map(String)]),
        ['**all**', '', ...counts(requirements).map(String)],
      ],
    ),
    '## Reasons of deferred requirements',
    table(
      ['reason', 'lines'],
      Object.entries(reasons)
        .map(([reason, lines = []]) => [reason, lines.length] as const)
        .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
        .map(([reason, count]) => [reason, String(count)]),
    ),
  ]);
}

const ABOUT: Readonly<Record<string, string>> = {
  ask: 'requirements beyond the contract documents: commands, core, plugins, embedding',
  choice: 'choices where the contract documents leave more than one option',
  manager: 'the HTTP API of the workload manager',
  run: 'the `run` command',
  vmcp: 'the aggregated endpoint and its configuration',
};
