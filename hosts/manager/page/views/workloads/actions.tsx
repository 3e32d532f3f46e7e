import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { runAndReport } from '../../app/jobs.ts';
import { Confirm } from '../../widgets/dialog.tsx';
import { UpgradeDialog } from './upgrade.tsx';

interface ActionsProps {
  readonly name: string;
  readonly status: string;
  readonly canUpgrade: boolean;
  /** Called after the workload was removed. */
  readonly onRemoved?: () => void;
}

const RUNS = new Set(['running', 'starting', 'unhealthy', 'unauthenticated', 'auth_retrying']);

/** What can be done with a workload in its state. */
export function WorkloadActions({ name, status, canUpgrade, onRemoved }: ActionsProps): JSX.Element {
  const asks = useSignal<'remove' | 'upgrade' | undefined>(undefined);
  const close = (): void => {
    asks.value = undefined;
  };
  const path = { name };
  const remove = async (): Promise<void> => {
    if (await runAndReport(`Remove ${name}`, 'deleteWorkload', { path })) onRemoved?.();
  };
  const action = (label: string, run: () => void, style = ''): JSX.Element => (
    <button type="button" class={`small ${style}`} onClick={run}>
      {label}
      <span class="hidden"> {name}</span>
    </button>
  );
  const restart = (verb: string) => () => void runAndReport(`${verb} ${name}`, 'restartWorkload', { path });
  return (
    <div class="buttons">
      {canUpgrade &&
        action(
          'Upgrade',
          () => {
            asks.value = 'upgrade';
          },
          'primary',
        )}
      {RUNS.has(status) ? (
        <>
          {action('Stop', () => void runAndReport(`Stop ${name}`, 'stopWorkload', { path }))}
          {action('Restart', restart('Restart'))}
        </>
      ) : (
        action('Start', restart('Start'))
      )}
      {action('Remove', () => {
        asks.value = 'remove';
      })}
      {asks.value === 'remove' && (
        <Confirm title={`Remove ${name}?`} action="Remove" onClose={close} onConfirm={() => void remove()}>
          <p>Its container, its configuration and its entries in editors are removed. Its volumes stay.</p>
        </Confirm>
      )}
      {asks.value === 'upgrade' && <UpgradeDialog name={name} onClose={close} />}
    </div>
  );
}
