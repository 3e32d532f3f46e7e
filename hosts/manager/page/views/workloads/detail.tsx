import type { JSX } from 'preact';
import { addressOf, call } from '../../app/calls.ts';
import type { Offer } from '../../app/offer.ts';
import { useResource } from '../../app/resource.ts';
import { linkTo, openPlace } from '../../app/router.ts';
import type { Workload } from '../../app/shapes.ts';
import { targetId } from '../../app/targets.ts';
import { CodeBlock } from '../../widgets/code-block.tsx';
import { CopyButton } from '../../widgets/copy-button.tsx';
import { LogViewer } from '../../widgets/log-viewer.tsx';
import { Name } from '../../widgets/name.tsx';
import { ProblemNote } from '../../widgets/problem-note.tsx';
import { StatusMark } from '../../widgets/status-mark.tsx';
import { WorkloadActions } from './actions.tsx';
import { EditWorkload } from './edit.tsx';

const TABS = [
  ['overview', 'Overview'],
  ['logs', 'Logs'],
  ['proxy-logs', 'Proxy log'],
  ['edit', 'Edit'],
  ['export', 'Configuration'],
] as const;

interface DetailProps {
  readonly name: string;
  readonly tab: string;
  /** It was made just now: the next steps are shown. */
  readonly isNew: boolean;
  readonly offer: Offer;
}

/** One workload: its state, its logs and its configuration. */
export function WorkloadDetail({ name, tab, isNew, offer }: DetailProps): JSX.Element {
  const list = useResource((signal) => call('listWorkloads', { query: { all: true }, signal }), [name], ['workload']);
  const checks = useResource((signal) => call('checkUpgrades', { query: { all: true }, signal }), [name], ['workload']);
  const workload = list.data.value?.workloads?.find((one) => one.name === name);
  const check = checks.data.value?.results?.find((one) => one.workload_name === name);
  const tabs = TABS.filter(([id]) => id !== 'edit' || !offer.readOnly);
  return (
    <>
      <p class="back">
        <a href={linkTo('workloads')}>Workloads</a>
      </p>
      <div class="title">
        <h1>
          <Name text={name} />
        </h1>
        {workload !== undefined && <StatusMark status={workload.status} />}
        {workload !== undefined && !offer.readOnly && (
          <WorkloadActions
            name={name}
            status={workload.status}
            canUpgrade={check?.status === 'upgrade-available'}
            onRemoved={() => openPlace('workloads')}
          />
        )}
      </div>
      <nav class="tabs" aria-label={`Parts of ${name}`}>
        {tabs.map(([id, title]) => (
          <a
            key={id}
            href={linkTo('workloads', [name], id === 'overview' ? {} : { tab: id })}
            aria-current={id === tab ? 'page' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      <ProblemNote problem={list.problem.value} />
      {list.data.value !== undefined && workload === undefined && (
        <p class="note">There is no workload of this name. It may have been removed.</p>
      )}
      {isNew && <NextSteps offer={offer} name={name} />}
      {workload !== undefined && tab === 'overview' && <Overview workload={workload} />}
      {tab === 'logs' && <Logs name={name} call="getWorkloadLogs" label={`Log of ${name}`} />}
      {tab === 'proxy-logs' && <Logs name={name} call="getProxyLogs" label={`Proxy log of ${name}`} />}
      {tab === 'edit' && !offer.readOnly && <EditWorkload name={name} />}
      {tab === 'export' && <Exported name={name} />}
    </>
  );
}

function NextSteps({ offer, name }: { readonly offer: Offer; readonly name: string }): JSX.Element {
  const at = targetId('workloads', name);
  return (
    <p class="note">
      Next: {offer.views.includes('playground') && <a href={linkTo('playground', [], { at })}>try its tools</a>}
      {offer.views.includes('clients') && (
        <>
          , then <a href={linkTo('clients')}>connect your editor</a>
        </>
      )}
      .
    </p>
  );
}

function Overview({ workload }: { readonly workload: Workload }): JSX.Element {
  const { name } = workload;
  const stored = useResource((signal) => call('exportWorkload', { path: { name }, signal }), [name], ['workload']);
  const isProcess = (stored.data.value as { readonly process?: unknown } | undefined)?.process !== undefined;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['Reason', workload.status_context],
    ['Server', workload.package],
    ['Isolation', isProcess ? 'none: it runs as a process with your rights' : undefined],
    ['Group', workload.group],
    ['Transport', workload.transport_type],
    ['Proxy', workload.proxy_mode],
    ['Created', timeText(workload.created_at)],
    ['Started', timeText(workload.started_at)],
    ['Tools allowed', workload.tools?.length ? workload.tools.join(', ') : 'all'],
    ['Labels', labelText(workload.labels)],
  ];
  return (
    <dl class="facts">
      {workload.url !== undefined && workload.url !== '' && (
        <>
          <dt>Address</dt>
          <dd>
            <code>
              <Name text={workload.url} />
            </code>{' '}
            <CopyButton text={workload.url} what="The address" />
          </dd>
        </>
      )}
      {rows.map(
        ([title, text]) =>
          text !== undefined &&
          text !== '' && (
            <>
              <dt>{title}</dt>
              <dd>
                <Name text={text} />
              </dd>
            </>
          ),
      )}
    </dl>
  );
}

interface LogsProps {
  readonly name: string;
  readonly call: 'getWorkloadLogs' | 'getProxyLogs';
  readonly label: string;
}

function Logs({ name, call: operation, label }: LogsProps): JSX.Element {
  return <LogViewer address={addressOf(operation, { path: { name }, query: { follow: true } })} label={label} />;
}

function Exported({ name }: { readonly name: string }): JSX.Element {
  const exported = useResource((signal) => call('exportWorkload', { path: { name }, signal }), [name], ['workload']);
  const text = exported.data.value === undefined ? '' : JSON.stringify(exported.data.value, undefined, 2);
  return (
    <>
      <ProblemNote problem={exported.problem.value} />
      {text !== '' && (
        <>
          <div class="tools">
            <span class="muted">
              The configuration as <code>toolmgr run --from-config</code> takes it.
            </span>
            <CopyButton text={text} what="The configuration" />
          </div>
          <CodeBlock label={`Configuration of ${name}`} text={text} />
        </>
      )}
    </>
  );
}

function timeText(time: string | undefined): string | undefined {
  if (time === undefined || Number.isNaN(Date.parse(time))) return time;
  return new Date(time).toLocaleString();
}

function labelText(labels: Workload['labels']): string {
  return Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
}
