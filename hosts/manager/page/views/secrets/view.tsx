import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { call } from '../../app/calls.ts';
import { useResource } from '../../app/resource.ts';
import type { SecretProvider } from '../../app/shapes.ts';
import type { ViewProps } from '../../app/view-props.ts';
import { act } from '../../widgets/act.ts';
import { Confirm } from '../../widgets/dialog.tsx';
import { Name } from '../../widgets/name.tsx';
import { ProblemNote } from '../../widgets/problem-note.tsx';
import { Table } from '../../widgets/table.tsx';
import { ProviderDialog } from './provider-dialog.tsx';
import { SecretDialog } from './secret-dialog.tsx';

type Open =
  | { readonly kind: 'provider' }
  | { readonly kind: 'add' }
  | { readonly kind: 'rotate' | 'delete'; readonly key: string };

/** The names of the stored secrets. Values are never read. */
export function view({ offer }: ViewProps): JSX.Element {
  const provider = useResource((signal) => call('getSecretProvider', { signal }), [], ['secret']);
  const secrets = useResource((signal) => call('listSecrets', { signal }), [], ['secret']);
  const open = useSignal<Open | undefined>(undefined);
  const close = (): void => {
    open.value = undefined;
    provider.reload();
    secrets.reload();
  };
  const show = (next: Open) => (): void => {
    open.value = next;
  };
  const isMissing = provider.problem.value?.status === 404;
  const capabilities = provider.data.value?.capabilities ?? {};
  const canWrite = !offer.readOnly && capabilities.can_write === true;
  const keys = secrets.data.value?.keys ?? [];
  return (
    <>
      <div class="title">
        <h1>Secrets</h1>
        {canWrite && (
          <button type="button" class="primary" onClick={show({ kind: 'add' })}>
            Add a secret
          </button>
        )}
      </div>
      {isMissing ? (
        <section class="first" aria-label="Set-up">
          <p class="lead">Secrets are not set up yet.</p>
          <p>A provider keeps tokens and passwords of servers, so that no configuration has their values.</p>
          {!offer.readOnly && (
            <button type="button" class="primary" onClick={show({ kind: 'provider' })}>
              Set up a provider
            </button>
          )}
        </section>
      ) : (
        <>
          <ProblemNote problem={provider.problem.value} />
          {provider.data.value !== undefined && (
            <Provider provider={provider.data.value} change={offer.readOnly ? undefined : show({ kind: 'provider' })} />
          )}
          {capabilities.can_list !== false && <ProblemNote problem={secrets.problem.value} />}
          {keys.length > 0 && (
            <Table
              title="Secrets"
              columns={{ Name: '', Description: '', Actions: 'actions' }}
              items={keys}
              row={({ key, description }) => (
                <tr key={key}>
                  <th scope="row">
                    <Name text={key} />
                  </th>
                  <td>{description}</td>
                  <td class="actions">
                    {canWrite && (
                      <div class="buttons">
                        <button type="button" class="small" onClick={show({ kind: 'rotate', key })}>
                          Rotate<span class="hidden"> {key}</span>
                        </button>
                        <button type="button" class="small" onClick={show({ kind: 'delete', key })}>
                          Delete<span class="hidden"> {key}</span>
                        </button>
                      </div>
                    )}
                  </td>
                </tr>
              )}
            />
          )}
          {secrets.data.value !== undefined && keys.length === 0 && <p>There are no secrets.</p>}
        </>
      )}
      <Dialogs open={open.value} provider={provider.data.value} onClose={close} />
    </>
  );
}

interface DialogsProps {
  readonly open: Open | undefined;
  readonly provider: SecretProvider | undefined;
  readonly onClose: () => void;
}

function Dialogs({ open, provider, onClose }: DialogsProps): JSX.Element | null {
  if (open === undefined) return null;
  if (open.kind === 'provider') return <ProviderDialog present={provider?.provider_type} onClose={onClose} />;
  if (open.kind === 'add') return <SecretDialog onClose={onClose} />;
  const { key } = open;
  if (open.kind === 'rotate') return <SecretDialog replaces={key} onClose={onClose} />;
  return (
    <Confirm
      title={`Delete ${key}?`}
      action="Delete"
      onClose={onClose}
      onConfirm={() => void act(`${key} is deleted`, 'deleteSecret', { path: { key } }).then(onClose)}
    >
      <p>Workloads that use it fail at their next start.</p>
    </Confirm>
  );
}

interface ProviderProps {
  readonly provider: SecretProvider;
  readonly change: (() => void) | undefined;
}

function Provider({ provider, change }: ProviderProps): JSX.Element {
  const canDo = Object.entries(provider.capabilities ?? {})
    .filter(([, value]) => value)
    .map(([name]) => name.replace('can_', ''));
  return (
    <dl class="facts">
      <dt>Provider</dt>
      <dd>
        {provider.provider_type}{' '}
        {change !== undefined && (
          <button type="button" class="small" onClick={change}>
            Change<span class="hidden"> the provider</span>
          </button>
        )}
      </dd>
      <dt>It can</dt>
      <dd>{canDo.join(', ')}</dd>
    </dl>
  );
}
