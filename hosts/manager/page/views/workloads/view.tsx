import type { JSX } from 'preact';
import type { ViewProps } from '../../app/view-props.ts';
import { WorkloadDetail } from './detail.tsx';
import { WorkloadList } from './list.tsx';

/** The workloads of this machine, and one of them with its logs. */
export function view({ parts, query, offer }: ViewProps): JSX.Element {
  const [name] = parts;
  return name === undefined ? (
    <WorkloadList offer={offer} />
  ) : (
    <WorkloadDetail
      key={name}
      name={name}
      tab={query.get('tab') ?? 'overview'}
      isNew={query.has('new')}
      offer={offer}
    />
  );
}
