import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { clientConfigurations } from '../../app/client-configurations.ts';
import { ApiProblem } from '../../app/problem.ts';
import { sendRequest } from '../../app/request.ts';
import { useResource } from '../../app/resource.ts';
import { chosenTarget, listTargets, type Target } from '../../app/targets.ts';
import type { ViewProps } from '../../app/view-props.ts';
import { Brief } from '../../widgets/brief.tsx';
import { CodeBlock } from '../../widgets/code-block.tsx';
import { CopyButton } from '../../widgets/copy-button.tsx';
import { FilterField } from '../../widgets/filter-field.tsx';
import { Name } from '../../widgets/name.tsx';
import { ProblemNote } from '../../widgets/problem-note.tsx';
import { StatusMark } from '../../widgets/status-mark.tsx';
import { Table } from '../../widgets/table.tsx';
import { TargetChoice } from '../../widgets/target-choice.tsx';

/** As `EndpointView` of the host. */
interface Described {
  readonly name: string;
  readonly path: string;
  readonly backends?: readonly {
    readonly name: string;
    readonly transport: string;
    readonly status: string;
    readonly cause?: string;
    readonly revision?: string;
    readonly outgoingAuth: string;
  }[];
  readonly entries?: readonly Entry[];
  readonly isCut?: boolean;
  readonly warnings?: readonly string[];
  readonly plugins?: Readonly<Record<string, readonly string[]>>;
}

interface Entry {
  readonly kind: string;
  readonly key: string;
  readonly backend: string;
  readonly original: string;
  readonly title?: string;
  readonly description?: string;
  readonly hiddenBy?: string;
  readonly servedAt?: string;
  readonly shapedBy: readonly string[];
}

/** What clients of an endpoint see: names before and after aggregation, and why. */
export function view({ query, offer }: ViewProps): JSX.Element {
  const targets = useResource((signal) => listTargets(offer, signal), [], ['workload', 'group']);
  const target = chosenTarget(targets.data.value ?? [], query.get('at'));
  return (
    <>
      <div class="title">
        <h1>Endpoint</h1>
        <TargetChoice view="endpoint" targets={targets.data.value ?? []} chosen={target} />
      </div>
      <ProblemNote problem={targets.problem.value} />
      {target !== undefined && <Description key={target.id} target={target} />}
    </>
  );
}

function Description({ target }: { readonly target: Target }): JSX.Element {
  const described = useResource(async (signal) => read(target.view, signal), [target.id], ['workload']);
  const { data, problem } = described;
  const url = new URL(target.mcp, location.href).href;
  const configurations = clientConfigurations(data.value?.name ?? 'toolmgr', url);
  return (
    <>
      <ProblemNote problem={problem.value} />
      <dl class="facts">
        <dt>Address for clients</dt>
        <dd>
          <code>{url}</code> <CopyButton text={url} what="The address" />
        </dd>
      </dl>
      <details>
        <summary>Configuration for Claude, Cursor, VS Code and others</summary>
        {configurations.map(({ client, place, text }) => (
          <section key={client}>
            <h3>{client}</h3>
            <p class="muted">{place}</p>
            <CodeBlock text={text} label={`Configuration of ${client}`} />
          </section>
        ))}
      </details>
      {data.value !== undefined && <Facts described={data.value} />}
    </>
  );
}

function Facts({
  described: { backends = [], entries = [], warnings = [], plugins = {}, isCut },
}: {
  readonly described: Described;
}): JSX.Element {
  return (
    <div class="described">
      <section>
        <h2>Backends</h2>
        <Table
          title="Backends"
          columns={{ Name: 'wide', State: 'medium', Transport: '', 'MCP revision': '', Credentials: '' }}
          items={backends}
          row={(backend) => (
            <tr key={backend.name}>
              <th scope="row">
                <Name text={backend.name} />
              </th>
              <td>
                <StatusMark status={backend.status} />
                {backend.cause !== undefined && (
                  <div class="muted">
                    <Name text={backend.cause} />
                  </div>
                )}
              </td>
              <td>{backend.transport}</td>
              <td>{backend.revision ?? '-'}</td>
              <td>{CREDENTIALS[backend.outgoingAuth] ?? backend.outgoingAuth}</td>
            </tr>
          )}
        />
        {backends.length === 0 && <p class="muted">No backend runs.</p>}
      </section>
      <Entries entries={entries} />
      {isCut === true && <p class="muted">There are more entries; only the first ones are shown.</p>}
      {warnings.length > 0 && (
        <section>
          <h2>Notes</h2>
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </section>
      )}
      <details>
        <summary>Plugins by hook, in running order</summary>
        <dl class="facts">
          {Object.entries(plugins).flatMap(([hook, names]) => [
            <dt key={hook}>{hook}</dt>,
            <dd key={`${hook} names`}>{names.join(', ')}</dd>,
          ])}
        </dl>
      </details>
    </div>
  );
}

/** Words for strategies; others are shown by the names that configuration files use. */
const CREDENTIALS: Readonly<Record<string, string>> = { unauthenticated: 'none', header_injection: 'fixed headers' };

function Entries({ entries }: { readonly entries: readonly Entry[] }): JSX.Element {
  const filter = useSignal('');
  const wanted = filter.value.trim().toLowerCase();
  const found = entries.filter(({ key, original, backend }) =>
    [key, original, backend].some((text) => text.toLowerCase().includes(wanted)),
  );
  return (
    <section>
      <h2>What clients see</h2>
      <div class="tools">
        <FilterField filter={filter} />
        <span class="muted" role="status">
          {found.length} of {entries.length}
        </span>
      </div>
      <Table
        title="Tools, prompts and resources"
        columns={{
          'Name for clients': 'wide',
          Kind: 'narrow',
          Backend: '',
          'Its own name': '',
          'Changed by': '',
          Seen: '',
        }}
        items={found}
        row={(entry) => (
          <tr key={`${entry.kind} ${entry.key} ${entry.backend}`}>
            <th scope="row">
              <code>
                <Name text={entry.key} />
              </code>
              <Brief text={entry.description} isSecond />
            </th>
            <td>{entry.kind}</td>
            <td>
              <Name text={entry.backend} />
            </td>
            <td>
              <code>
                <Name text={entry.original} />
              </code>
            </td>
            <td>{entry.shapedBy.join(', ') || '-'}</td>
            <td>{seenAs(entry)}</td>
          </tr>
        )}
      />
    </section>
  );
}

function seenAs({ hiddenBy, servedAt }: Entry): string {
  if (hiddenBy !== undefined) return `no, hidden by ${hiddenBy}`;
  return servedAt === 'direct' ? 'through a search' : 'yes';
}

async function read(path: string, signal: AbortSignal): Promise<Described> {
  const body: unknown = await (await sendRequest(path, { signal })).json();
  if (typeof body === 'object' && body !== null) return body as Described;
  throw new ApiProblem('The host gave no description of the endpoint.', 0, '');
}
