import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { call } from '../../app/calls.ts';
import type { Offer } from '../../app/offer.ts';
import { useResource } from '../../app/resource.ts';
import { linkTo } from '../../app/router.ts';
import type { Workload } from '../../app/shapes.ts';
import { Brief } from '../../widgets/brief.tsx';
import { FilterField } from '../../widgets/filter-field.tsx';
import { Name } from '../../widgets/name.tsx';
import { ProblemNote } from '../../widgets/problem-note.tsx';
import { StatusMark } from '../../widgets/status-mark.tsx';
import { Table } from '../../widgets/table.tsx';
import { WorkloadActions } from './actions.tsx';
import { FirstSteps } from './first-steps.tsx';

/** All workloads with their states, as they change. */
export function WorkloadList({ offer }: { readonly offer: Offer }): JSX.Element {
  const filter = useSignal('');
  const workloads = useResource(
    (signal) => call('listWorkloads', { query: { all: true }, signal }),
    [],
    ['workload', 'group'],
  );
  const upgrades = useResource((signal) => call('checkUpgrades', { query: { all: true }, signal }), [], ['registry']);
  const all = workloads.data.value?.workloads ?? [];
  const upgradable = new Set(
    (upgrades.data.value?.results ?? [])
      .filter(({ status }) => status === 'upgrade-available')
      .map(({ workload_name }) => workload_name),
  );
  const shown = all.filter((workload) => matches(workload, filter.value));
  return (
    <>
      <div class="title">
        <h1>Workloads</h1>
        {offer.views.includes('browse') && (
          <a class="button primary" href={linkTo('browse')}>
            Run a server
          </a>
        )}
      </div>
      <ProblemNote problem={workloads.problem.value} />
      {workloads.data.value !== undefined && all.length === 0 && <FirstSteps offer={offer} />}
      {all.length > 0 && (
        <>
          <div class="tools">
            <FilterField filter={filter} />
            <span class="muted" role="status">
              {shown.length} of {all.length}
            </span>
          </div>
          <Table
            title="Workloads"
            columns={{ Name: 'wide', State: 'medium', 'Server and group': '', Actions: 'actions' }}
            items={shown}
            row={(workload) => (
              <Row
                key={workload.name}
                workload={workload}
                canUpgrade={upgradable.has(workload.name)}
                readOnly={offer.readOnly}
              />
            )}
          />
        </>
      )}
    </>
  );
}

interface RowProps {
  readonly workload: Workload;
  readonly canUpgrade: boolean;
  readonly readOnly: boolean;
}

function Row({ workload, canUpgrade, readOnly }: RowProps): JSX.Element {
  const { name, status, status_context: context, group, url } = workload;
  return (
    <tr>
      <th scope="row">
        <a href={linkTo('workloads', [name])}>
          <Name text={name} />
        </a>
        <Brief text={url} isSecond isCode />
      </th>
      <td>
        <StatusMark status={status} />
        <Brief text={context} isSecond />
      </td>
      <td>
        <Brief text={workload.package} />
        <Brief text={group} isSecond />
      </td>
      <td class="actions">{!readOnly && <WorkloadActions name={name} status={status} canUpgrade={canUpgrade} />}</td>
    </tr>
  );
}

function matches(workload: Workload, filter: string): boolean {
  const wanted = filter.trim().toLowerCase();
  const { name, status, group = '', package: image = '' } = workload;
  return wanted === '' || [name, status, group, image].some((text) => text.toLowerCase().includes(wanted));
}
