import { signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { call } from '../../app/calls.ts';
import type { Offer } from '../../app/offer.ts';
import { ApiProblem, sentenceOf } from '../../app/problem.ts';
import type { SyncResult, UpgradeOutcome } from '../../app/shapes.ts';
import { Brief } from '../../widgets/brief.tsx';
import { Name } from '../../widgets/name.tsx';
import { ProblemNote } from '../../widgets/problem-note.tsx';
import { StatusMark } from '../../widgets/status-mark.tsx';
import { Table } from '../../widgets/table.tsx';

/** The folder stays when the person comes back. */
const folder = signal('');

const LISTS = [
  ['missing', 'In the lock file, not installed'],
  ['drifted', 'Changed since it was installed'],
  ['removed_from_lock', 'Installed, no longer in the lock file'],
  ['never_managed', 'Installed, never in the lock file'],
  ['installed', 'Installed now'],
  ['pruned', 'Uninstalled now'],
  ['already_current', 'As the lock file says'],
] as const satisfies readonly (readonly [keyof SyncResult, string])[];

type Options = Readonly<Record<string, boolean>>;

/** The skills of a project and its lock file: what differs, what an upgrade would change, and doing it. */
export function ProjectSkills({ offer }: { readonly offer: Offer }): JSX.Element {
  const problem = useSignal<ApiProblem | undefined>(undefined);
  const works = useSignal(false);
  const synced = useSignal<SyncResult | undefined>(undefined);
  const outcomes = useSignal<readonly UpgradeOutcome[] | undefined>(undefined);
  const id = useId();
  const run = async (name: 'syncSkills' | 'upgradeSkills', options: Options): Promise<void> => {
    works.value = true;
    problem.value = undefined;
    synced.value = undefined;
    outcomes.value = undefined;
    const body = { project_root: folder.value, ...options };
    try {
      if (name === 'syncSkills') synced.value = await call('syncSkills', { body });
      else outcomes.value = (await call('upgradeSkills', { body })).outcomes ?? [];
    } catch (error) {
      problem.value = error instanceof ApiProblem ? error : new ApiProblem(sentenceOf(error), 0, '');
    } finally {
      works.value = false;
    }
  };
  const button = (title: string, name: 'syncSkills' | 'upgradeSkills', options: Options, style = ''): JSX.Element => (
    <button
      type="button"
      class={style}
      disabled={works.value || folder.value === ''}
      onClick={() => void run(name, options)}
    >
      {title}
    </button>
  );
  return (
    <>
      <form class="form" onSubmit={(event) => event.preventDefault()}>
        <div class="field">
          <label for={id}>Folder of the project</label>
          <p class="about" id={`${id}-about`}>
            The absolute path of a git work tree, e.g. /home/you/project.
          </p>
          <input
            id={id}
            type="text"
            aria-describedby={`${id}-about`}
            spellcheck={false}
            value={folder.value}
            onInput={({ currentTarget }) => {
              folder.value = currentTarget.value.trim();
            }}
          />
        </div>
        <div class="buttons">
          {button('Compare with the lock file', 'syncSkills', { check: true }, 'primary')}
          {button('Preview upgrades', 'upgradeSkills', { preview: true })}
          {!offer.readOnly && (
            <>
              {button('Sync', 'syncSkills', {})}
              {button('Sync and prune', 'syncSkills', { prune: true })}
              {button('Adopt installed', 'syncSkills', { adopt: true })}
              {button('Upgrade', 'upgradeSkills', {})}
            </>
          )}
        </div>
      </form>
      <div role="status">
        {works.value && <p class="muted">Working…</p>}
        {synced.value !== undefined && <Synced result={synced.value} />}
        {outcomes.value !== undefined && <Outcomes outcomes={outcomes.value} />}
      </div>
      <ProblemNote problem={problem.value} />
    </>
  );
}

function Synced({ result }: { readonly result: SyncResult }): JSX.Element {
  const shown = LISTS.filter(([list]) => (result[list]?.length ?? 0) > 0);
  return (
    <section aria-label="Result">
      {shown.length === 0 && !result.failed?.length && <p>The lock file has no skills.</p>}
      <dl class="facts">
        {shown.map(([list, title]) => (
          <>
            <dt>{title}</dt>
            <dd>{result[list]?.join(', ')}</dd>
          </>
        ))}
        {result.failed?.map(({ name, error, reason }) => (
          <>
            <dt>Failed: {name}</dt>
            <dd>
              {error} {reason !== undefined && `(${reason})`}
            </dd>
          </>
        ))}
      </dl>
    </section>
  );
}

function Outcomes({ outcomes }: { readonly outcomes: readonly UpgradeOutcome[] }): JSX.Element {
  if (outcomes.length === 0) return <p>The lock file has no skills.</p>;
  return (
    <Table
      title="Upgrades"
      columns={{ Skill: 'wide', State: 'narrow', New: '', Reason: '' }}
      items={outcomes}
      row={({ name, status, new_resolved_reference: next, reason, error }) => (
        <tr key={name}>
          <th scope="row">
            <Name text={name} />
          </th>
          <td>
            <StatusMark status={status} />
          </td>
          <td>
            <Brief text={next} isCode />
          </td>
          <td>{error ?? reason}</td>
        </tr>
      )}
    />
  );
}
