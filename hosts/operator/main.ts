import { type Command, InvalidArgumentError } from 'commander';
import { OPERATOR_VARIABLES } from './settings.ts';

/** Adds `toolmgr operator`. It loads its code when it runs. */
export function addOperatorCommand(program: Command): void {
  program
    .command('operator')
    .description('reconcile the toolmgr.dev kinds of a Kubernetes cluster')
    .option(
      '--kubeconfig <file>',
      'cluster to connect to (in a pod: its service account; else KUBECONFIG, ~/.kube/config)',
    )
    .option('--leader-elect', 'reconcile only while this replica holds the Lease, for more than one replica')
    .option('--concurrency <number>', 'objects of a kind that are reconciled at the same time', concurrencyFrom, 4)
    .option(
      '--metrics-bind-address <address>',
      'where /metrics is served, 0 for none (:8080 in a pod, else 127.0.0.1:8080)',
    )
    .option(
      '--health-probe-bind-address <address>',
      'where /healthz and /readyz are served, 0 for none (:8081 in a pod, else 127.0.0.1:8081)',
    )
    .addHelpText(
      'after',
      `
Environment:
${Object.entries(OPERATOR_VARIABLES)
  .map(([name, means]) => `  ${name.padEnd(36)} ${means}`)
  .join('\n')}

Examples:
  toolmgr operator --leader-elect
  WATCH_NAMESPACE=team-a,team-b toolmgr operator --kubeconfig ~/.kube/config`,
    )
    .action(async (options) => (await import('./run-operator.ts')).runOperator(options));
}

const MAX_CONCURRENCY = 64;

function concurrencyFrom(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= MAX_CONCURRENCY) return count;
  throw new InvalidArgumentError(`expected a number from 1 to ${MAX_CONCURRENCY}`);
}
