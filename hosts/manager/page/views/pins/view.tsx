import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { call } from '../../app/calls.ts';
import { useResource } from '../../app/resource.ts';
import type { HeldDefinition } from '../../app/shapes.ts';
import type { ViewProps } from '../../app/view-props.ts';
import { Brief } from '../../widgets/brief.tsx';
import { Name } from '../../widgets/name.tsx';
import { ProblemNote } from '../../widgets/problem-note.tsx';
import { StatusMark } from '../../widgets/status-mark.tsx';
import { Table } from '../../widgets/table.tsx';
import { PinDialog } from './pin-dialog.tsx';

/** The definitions that gateways hold until a person decides. */
export function view({ offer }: ViewProps): JSX.Element {
  const found = useResource((signal) => call('listPins', { signal }), [], ['pin']);
  const open = useSignal<HeldDefinition | undefined>(undefined);
  const pins = found.data.value?.pins ?? [];
  const close = (): void => {
    open.value = undefined;
    found.reload();
  };
  return (
    <>
      <div class="title">
        <h1>Pins</h1>
      </div>
      <ProblemNote problem={found.problem.value} />
      {(found.data.value?.notes ?? []).map((note) => (
        <p key={note}>{note}</p>
      ))}
      {found.data.value !== undefined && pins.length === 0 && <p>No gateway holds a definition.</p>}
      {pins.length > 0 && (
        <Table
          title="Held definitions"
          columns={{
            Definition: 'wide',
            Gateway: 'narrow',
            State: 'narrow',
            Since: 'narrow',
            Why: '',
            Actions: 'action',
          }}
          items={pins}
          row={(pin) => (
            <tr key={`${pin.gateway} ${pin.backend} ${pin.kind} ${pin.hash}`}>
              <th scope="row">
                <Brief text={`${pin.backend} / ${pin.name}`} /> <span class="muted">{pin.kind}</span>
              </th>
              <td>
                <Name text={pin.gateway} />
              </td>
              <td>
                <StatusMark status={pin.state} />
              </td>
              <td>{pin.since.slice(0, 10)}</td>
              <td>
                <Brief text={pin.reason} />
              </td>
              <td class="actions">
                <button
                  type="button"
                  class="small"
                  onClick={() => {
                    open.value = pin;
                  }}
                >
                  Compare<span class="hidden"> {pin.name}</span>
                </button>
              </td>
            </tr>
          )}
        />
      )}
      {open.value !== undefined && <PinDialog pin={open.value} readOnly={offer.readOnly === true} onClose={close} />}
    </>
  );
}
