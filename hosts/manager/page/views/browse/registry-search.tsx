import { signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import { call } from '../../app/calls.ts';
import { sentenceOf } from '../../app/problem.ts';
import { useResource } from '../../app/resource.ts';
import { linkTo } from '../../app/router.ts';
import { useSettled } from '../../app/settled.ts';
import type { RegistryServer } from '../../app/shapes.ts';
import { notify } from '../../app/toasts.ts';
import { RegistryProblem } from './registry-problem.tsx';

const KINDS = [
  ['all', 'All'],
  ['container', 'Runs here'],
  ['remote', 'Remote'],
] as const;

/** What was searched last; it stays when the person comes back from an entry. */
const search = signal('');
const kind = signal<(typeof KINDS)[number][0]>('all');

/** Searches the registry. */
export function RegistrySearch(): JSX.Element {
  const wanted = useSettled(search.value);
  const limit = useSignal(PAGE);
  const found = useResource(
    (abort) =>
      call('listRegistryServers', {
        path: { name: 'default' },
        query: { q: wanted, limit: String(limit.value) },
        signal: abort,
      }),
    [wanted, limit.value],
    ['registry'],
  );
  const last = useLast(found.data.value);
  const servers = [
    ...(last?.servers ?? []).map((server) => ({ server, isRemote: false })),
    ...(last?.remote_servers ?? []).map((server) => ({ server, isRemote: true })),
  ].filter(({ isRemote }) => kind.value === 'all' || (kind.value === 'remote') === isRemote);
  const total = last?.total ?? servers.length;
  const id = useId();
  return (
    <>
      <div class="title">
        <h1>Browse</h1>
        <div class="buttons">
          <button type="button" onClick={() => void refresh()}>
            Refresh
          </button>
          <a class="button" href={linkTo('browse', [], { custom: 'yes' })}>
            Run an image or a package
          </a>
        </div>
      </div>
      <search class="tools">
        <label for={id}>Search servers</label>
        <input
          id={id}
          type="search"
          value={search.value}
          placeholder="Name, description or tag"
          onInput={({ currentTarget }) => {
            search.value = currentTarget.value;
          }}
        />
        <fieldset class="segments">
          <legend class="hidden">Kind</legend>
          {KINDS.map(([value, title]) => (
            <label key={value} class="check">
              <input
                type="radio"
                name={`${id}-kind`}
                checked={kind.value === value}
                onChange={() => {
                  kind.value = value;
                }}
              />
              {title}
            </label>
          ))}
        </fieldset>
        <span class="muted" role="status">
          {last === undefined ? 'Searching…' : `${total} found`}
        </span>
      </search>
      <RegistryProblem problem={found.problem.value} retry={found.reload} />
      {last?.notes?.map((note) => (
        <p class="note" key={note}>
          {note}
        </p>
      ))}
      <ul class="cards">
        {servers.map(({ server, isRemote }) => (
          <li key={server.name}>
            <Card server={server} isRemote={isRemote} />
          </li>
        ))}
      </ul>
      {last !== undefined && servers.length === 0 && <p>No server matches.</p>}
      {total > limit.value && (
        <p>
          <button
            type="button"
            onClick={() => {
              limit.value += PAGE;
            }}
          >
            Show more
          </button>
        </p>
      )}
    </>
  );
}

const PAGE = 60; // servers

function Card({ server, isRemote }: { readonly server: RegistryServer; readonly isRemote: boolean }): JSX.Element {
  return (
    <article class="card">
      <h2>
        <a href={linkTo('browse', [server.name])}>{server.title || server.name}</a>
      </h2>
      <p>{server.description}</p>
      <div class="foot">
        <span class="status idle">{isRemote ? 'remote' : kindOfImage(server.image)}</span>
        <span>{server.name}</span>
        {server.tier !== undefined && server.tier !== '' && <span>{server.tier}</span>}
        {server.status?.toLowerCase() === 'deprecated' && <span class="status bad">deprecated</span>}
        {server.tools !== undefined && server.tools.length > 0 && (
          <span>{server.tools.length === 1 ? '1 tool' : `${server.tools.length} tools`}</span>
        )}
        {server.metadata?.stars !== undefined && <span>★ {server.metadata.stars.toLocaleString()}</span>}
      </div>
    </article>
  );
}

/** `container` for images, `npx` and so on for packages. */
export function kindOfImage(image: string | undefined): string {
  return /^(npx|uvx|go):\/\//.exec(image ?? '')?.[1] ?? 'container';
}

async function refresh(): Promise<void> {
  try {
    await call('refreshRegistry', { path: { name: 'default' } });
    notify('done', 'The registry was loaded again');
  } catch (error) {
    notify('failed', sentenceOf(error));
  }
}

/** The last data that was there: the list stays while the next one is read, so nothing moves. */
function useLast<Data>(data: Data | undefined): Data | undefined {
  const last = useSignal<Data | undefined>(undefined);
  useEffect(() => {
    if (data !== undefined) last.value = data;
  }, [data]);
  return data ?? last.value;
}
