import { columns, printable, stderr, stdout } from '../../shared/terminal.ts';
import { stopsServer } from '../resolve/resolution.ts';
import type { ManifestReport, ServerReport } from './check-manifests.ts';

/** Prints what a cluster would say. Problems go to standard error. */
export function printReport(file: string, report: ManifestReport): void {
  for (const problem of report.problems) stderr.line(`${stderr.red('refused')} ${printable(problem)}`);
  for (const server of report.servers) printServer(server);
  const { objects, isValid, servers } = report;
  const unchecked = servers.reduce((sum, { notChecked }) => sum + notChecked.length, 0);
  const rest = unchecked === 0 ? '' : `; ${count(unchecked, 'reference')} not checked`;
  stdout.line(`${file}: ${count(objects, 'object')}, ${isValid ? 'valid' : 'not valid'}${rest}`);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function printServer(server: ServerReport): void {
  const { name, namespace, outcome, conditions, events, backends, notChecked, hints } = server;
  stdout.line(stdout.bold(`VirtualMCPServer ${printable(name)} (namespace ${printable(namespace)})`));
  const isStopped = conditions.some((condition) => stopsServer(condition) && condition.isUnchecked !== true);
  const needsOthers = outcome.result !== 'ready' && !isStopped && notChecked.length > 0;
  stdout.line(
    `  ${needsOthers ? 'pods would be made if the objects that are not in the file are there' : OUTCOMES[outcome.result]}`,
  );
  const rows = conditions.map(({ type, status, reason, message, isUnchecked }) =>
    [type, isUnchecked === true ? 'not checked' : status, reason, message].map(printable),
  );
  print('conditions', rows);
  print(
    'events',
    events.map((event) => [printable(event)]),
  );
  print(
    'backends',
    backends.map(({ name: backend, url = '', authType = '', authConfigRef, problem }) =>
      [
        backend,
        url,
        problem === undefined ? authType : `left out: ${problem}`,
        authConfigRef === undefined ? '' : `MCPExternalAuthConfig ${authConfigRef}`,
      ].map(printable),
    ),
  );
  print(
    'not checked, because the file does not have them',
    notChecked.map((each) => [printable(each)]),
  );
  print(
    'probable mistakes',
    hints.map((each) => [printable(each)]),
  );
}

function print(title: string, rows: readonly (readonly string[])[]): void {
  if (rows.length === 0) return;
  stdout.line(`  ${title}`);
  for (const line of columns(rows, '    ')) stdout.line(line);
}

const OUTCOMES: Readonly<Record<ServerReport['outcome']['result'], string>> = {
  ready: 'pods would be made',
  waiting: 'phase Pending: pods would not be made yet',
  failed: 'phase Failed: no pods would be made',
};
