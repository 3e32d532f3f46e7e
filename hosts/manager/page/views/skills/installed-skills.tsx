import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { call } from '../../app/calls.ts';
import type { Offer } from '../../app/offer.ts';
import { useResource } from '../../app/resource.ts';
import { linkTo } from '../../app/router.ts';
import type { InstalledSkill } from '../../app/shapes.ts';
import { act } from '../../widgets/act.ts';
import { Brief } from '../../widgets/brief.tsx';
import { Confirm } from '../../widgets/dialog.tsx';
import { Name } from '../../widgets/name.tsx';
import { ProblemNote } from '../../widgets/problem-note.tsx';
import { StatusMark } from '../../widgets/status-mark.tsx';
import { Table } from '../../widgets/table.tsx';
import { InstallDialog } from './install-dialog.tsx';

/** The installed skills of the user and of projects. */
export function InstalledSkills({ offer }: { readonly offer: Offer }): JSX.Element {
  const found = useResource((signal) => call('listSkills', { signal }), [], ['skill']);
  const installs = useSignal(false);
  const removes = useSignal<InstalledSkill | undefined>(undefined);
  const skills = found.data.value?.skills ?? [];
  return (
    <>
      <div class="tools">
        <a href={linkTo('skills', [], { tab: 'search' })}>Search the registry</a>
        {!offer.readOnly && (
          <button
            type="button"
            onClick={() => {
              installs.value = true;
            }}
          >
            Install by reference
          </button>
        )}
      </div>
      <ProblemNote problem={found.problem.value} />
      {found.data.value !== undefined && skills.length === 0 && <p>No skill is installed.</p>}
      {skills.length > 0 && (
        <Table
          title="Installed skills"
          columns={{ Skill: 'wide', State: 'narrow', For: 'narrow', Clients: '', Source: '', Actions: 'action' }}
          items={skills}
          row={(skill) => (
            <tr key={`${skill.scope} ${skill.project_root} ${nameOf(skill)}`}>
              <th scope="row">
                <Name text={nameOf(skill)} /> <span class="muted">{skill.metadata?.version}</span>
              </th>
              <td>
                <StatusMark status={skill.status ?? 'unknown'} />
              </td>
              <td>
                <Brief text={skill.scope === 'project' ? skill.project_root : 'you'} />
              </td>
              <td>{skill.clients?.join(', ')}</td>
              <td>
                <Brief text={skill.reference} isCode />
              </td>
              <td class="actions">
                {!offer.readOnly && (
                  <button
                    type="button"
                    class="small"
                    onClick={() => {
                      removes.value = skill;
                    }}
                  >
                    Uninstall<span class="hidden"> {nameOf(skill)}</span>
                  </button>
                )}
              </td>
            </tr>
          )}
        />
      )}
      {installs.value && (
        <InstallDialog
          onClose={() => {
            installs.value = false;
          }}
        />
      )}
      {removes.value !== undefined && (
        <Uninstall
          skill={removes.value}
          onClose={() => {
            removes.value = undefined;
          }}
          onDone={found.reload}
        />
      )}
    </>
  );
}

interface UninstallProps {
  readonly skill: InstalledSkill;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function Uninstall({ skill, onClose, onDone }: UninstallProps): JSX.Element {
  const name = nameOf(skill);
  const query = { scope: skill.scope, project_root: skill.project_root };
  return (
    <Confirm
      title={`Uninstall ${name}?`}
      action="Uninstall"
      onClose={onClose}
      onConfirm={() => void act(`${name} is uninstalled`, 'uninstallSkill', { path: { name }, query }).then(onDone)}
    >
      <p>Its folders are deleted, and skills that only it needed.</p>
    </Confirm>
  );
}

function nameOf({ metadata, reference }: InstalledSkill): string {
  return metadata?.name ?? reference ?? '';
}
