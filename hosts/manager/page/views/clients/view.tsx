import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { call } from '../../app/calls.ts';
import type { Offer } from '../../app/offer.ts';
import { useResource } from '../../app/resource.ts';
import type { ClientStatus } from '../../app/shapes.ts';
import type { ViewProps } from '../../app/view-props.ts';
import { Name } from '../../widgets/name.tsx';
import { ProblemNote } from '../../widgets/problem-note.tsx';
import { StatusMark } from '../../widgets/status-mark.tsx';
import { Table } from '../../widgets/table.tsx';
import { RegisterDialog } from './register-dialog.tsx';

/** Editors and other programs that use MCP servers: which are on this machine, and which get the workloads. */
export function view({ offer }: ViewProps): JSX.Element {
  const found = useResource((signal) => call('listClients', { signal }), [], ['client', 'group']);
  const clients = found.data.value?.clients ?? [];
  const here = clients.filter(({ installed, registered }) => installed || registered);
  const others = clients.filter((client) => !here.includes(client));
  return (
    <>
      <div class="title">
        <h1>Clients</h1>
      </div>
      <p class="muted">A registered client has the addresses of the running workloads in its configuration.</p>
      <ProblemNote problem={found.problem.value} />
      {found.data.value !== undefined && (
        <>
          <section aria-label="On this machine">
            <h2>On this machine</h2>
            {here.length === 0 ? (
              <p>No client was found.</p>
            ) : (
              <ClientTable clients={here} title="Clients on this machine" offer={offer} />
            )}
          </section>
          <section aria-label="Others">
            <details>
              <summary>Other clients that can be registered ({others.length})</summary>
              <ClientTable clients={others} title="Other clients" offer={offer} />
            </details>
          </section>
        </>
      )}
    </>
  );
}

interface TableProps {
  readonly clients: readonly ClientStatus[];
  readonly title: string;
  readonly offer: Offer;
}

function ClientTable({ clients, title, offer }: TableProps): JSX.Element {
  const asks = useSignal<{ readonly action: 'register' | 'unregister'; readonly name: string } | undefined>(undefined);
  const close = (): void => {
    asks.value = undefined;
  };
  return (
    <>
      <Table
        title={title}
        columns={{ Client: '', State: 'medium', Skills: 'narrow', Actions: 'action' }}
        items={clients}
        row={({ client_type: name, installed, registered, supports_skills: skills }) => (
          <tr key={name}>
            <th scope="row">
              <Name text={name} />
            </th>
            <td>
              <StatusMark status={registered ? 'registered' : installed ? 'found' : 'not found'} />
            </td>
            <td>{skills ? 'yes' : 'no'}</td>
            <td class="actions">
              {!offer.readOnly && (
                <button
                  type="button"
                  class={`small ${registered ? '' : 'primary'}`}
                  onClick={() => {
                    asks.value = { action: registered ? 'unregister' : 'register', name };
                  }}
                >
                  {registered ? 'Unregister' : 'Register'}
                  <span class="hidden"> {name}</span>
                </button>
              )}
            </td>
          </tr>
        )}
      />
      {asks.value !== undefined && <RegisterDialog {...asks.value} onClose={close} />}
    </>
  );
}
