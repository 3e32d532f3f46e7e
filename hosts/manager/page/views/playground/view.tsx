import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { listAll, type McpTarget } from '../../app/mcp.ts';
import type { Listed } from '../../app/mcp-shapes.ts';
import { useResource } from '../../app/resource.ts';
import { linkTo } from '../../app/router.ts';
import { chosenTarget, listTargets, type Target } from '../../app/targets.ts';
import type { ViewProps } from '../../app/view-props.ts';
import { FilterField } from '../../widgets/filter-field.tsx';
import { Name } from '../../widgets/name.tsx';
import { ProblemNote } from '../../widgets/problem-note.tsx';
import { TargetChoice } from '../../widgets/target-choice.tsx';
import { AccessToken } from './access-token.tsx';
import { History } from './history.tsx';
import { KINDS, type Kind, keyOf, kindFrom } from './kinds.ts';
import { pastCalls } from './past-calls.ts';
import { TryOut } from './try-out.tsx';

/** Tries the tools, prompts and resources of an endpoint. */
export function view({ query, offer }: ViewProps): JSX.Element {
  const targets = useResource((signal) => listTargets(offer, signal), [], ['workload', 'group']);
  const target = chosenTarget(targets.data.value ?? [], query.get('at'));
  return (
    <>
      <div class="title">
        <h1>Playground</h1>
        <TargetChoice view="playground" targets={targets.data.value ?? []} chosen={target} />
      </div>
      <ProblemNote problem={targets.problem.value} />
      {target !== undefined && (
        <Entries
          key={target.id}
          target={target}
          kind={kindFrom(query.get('kind'))}
          open={query.get('name') ?? ''}
          past={Number(query.get('past'))}
        />
      )}
    </>
  );
}

interface EntriesProps {
  readonly target: Target;
  readonly kind: Kind;
  /** The entry that is tried. */
  readonly open: string;
  /** Id of the past call whose values are shown. */
  readonly past: number;
}

function Entries({ target, kind, open, past }: EntriesProps): JSX.Element {
  const bearer = useSignal<string | undefined>(undefined);
  const mcp: McpTarget = { path: target.mcp, ...(bearer.value === undefined ? {} : { bearer: bearer.value }) };
  const lists = useResource(
    async (signal) =>
      (await Promise.all(kind.lists.map(({ method, member }) => listAll(mcp, method, member, signal)))).flat(),
    [target.id, kind.name, bearer.value],
    ['workload'],
  );
  const filter = useSignal('');
  const all = lists.data.value ?? [];
  const wanted = filter.value.trim().toLowerCase();
  const found = all.filter((entry) => `${keyOf(entry)} ${entry.title ?? ''}`.toLowerCase().includes(wanted));
  const chosen = all.find((entry) => keyOf(entry) === open);
  const place = { at: target.id, kind: kind.name };
  return (
    <>
      <nav class="tabs" aria-label="Kinds">
        {KINDS.map(({ name, title }) => (
          <a
            key={name}
            href={linkTo('playground', [], { at: target.id, kind: name })}
            aria-current={name === kind.name ? 'page' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      {lists.problem.value?.status === 401 ? (
        <AccessToken
          use={(given) => {
            bearer.value = given;
          }}
        />
      ) : (
        <ProblemNote problem={lists.problem.value} />
      )}
      <div class="split">
        <div>
          <div class="tools">
            <FilterField filter={filter} />
            <span class="muted" role="status">
              {found.length} of {all.length}
            </span>
          </div>
          <ul class="pick">
            {found.slice(0, MAX_ROWS).map((entry) => (
              <Pick key={keyOf(entry)} entry={entry} open={open} place={place} />
            ))}
          </ul>
          {lists.data.value !== undefined && all.length === 0 && <p class="muted">This endpoint lists none.</p>}
        </div>
        <div>
          {chosen === undefined ? (
            <p class="muted">Choose an entry to try it.</p>
          ) : (
            <TryOut
              key={`${kind.name} ${open} ${past}`}
              endpoint={target.id}
              target={mcp}
              kind={kind}
              entry={chosen}
              past={pastCalls.value.find(({ id }) => id === past)}
            />
          )}
        </div>
      </div>
      <History endpoint={target.id} />
    </>
  );
}

/** Rows at once; a filter finds the others. */
const MAX_ROWS = 300;

interface PickProps {
  readonly entry: Listed;
  readonly open: string;
  readonly place: Readonly<Record<string, string>>;
}

function Pick({ entry, open, place }: PickProps): JSX.Element {
  const key = keyOf(entry);
  return (
    <li>
      <a href={linkTo('playground', [], { ...place, name: key })} aria-current={key === open ? 'true' : undefined}>
        <code>
          <Name text={key} />
        </code>
        {entry.title !== undefined && <span class="muted"> {entry.title}</span>}
      </a>
    </li>
  );
}
