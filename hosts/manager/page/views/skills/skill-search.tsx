import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { call } from '../../app/calls.ts';
import type { Offer } from '../../app/offer.ts';
import { useResource } from '../../app/resource.ts';
import { useSettled } from '../../app/settled.ts';
import { Dialog } from '../../widgets/dialog.tsx';
import { plainText } from '../../widgets/plain-text.ts';
import { ProblemNote } from '../../widgets/problem-note.tsx';
import { InstallDialog } from './install-dialog.tsx';

/** Searches the skills of the registry. */
export function SkillSearch({ offer }: { readonly offer: Offer }): JSX.Element {
  const text = useSignal('');
  const wanted = useSettled(text.value);
  const found = useResource(
    (signal) =>
      call('listRegistrySkills', { path: { registryName: 'default' }, query: { q: wanted, limit: '100' }, signal }),
    [wanted],
    ['registry'],
  );
  const open = useSignal<{ readonly kind: 'read' | 'install'; readonly reference: string } | undefined>(undefined);
  const close = (): void => {
    open.value = undefined;
  };
  const skills = found.data.value?.skills ?? [];
  const id = useId();
  return (
    <>
      <search class="tools">
        <label for={id}>Search skills</label>
        <input
          id={id}
          type="search"
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
          }}
        />
        <span class="muted" role="status">
          {found.data.value === undefined ? 'Searching…' : `${skills.length} found`}
        </span>
      </search>
      <ProblemNote problem={found.problem.value} />
      <ul class="cards">
        {skills.map((skill) => {
          const reference = `${skill.namespace}/${skill.name}`;
          return (
            <li key={reference}>
              <article class="card">
                <h2>{skill.title || skill.name}</h2>
                <p>{skill.description}</p>
                <div class="foot">
                  <span>{reference}</span>
                  <span>{skill.version}</span>
                  <button
                    type="button"
                    class="small"
                    onClick={() => {
                      open.value = { kind: 'read', reference };
                    }}
                  >
                    Read<span class="hidden"> {reference}</span>
                  </button>
                  {!offer.readOnly && (
                    <button
                      type="button"
                      class="small primary"
                      onClick={() => {
                        open.value = { kind: 'install', reference };
                      }}
                    >
                      Install<span class="hidden"> {reference}</span>
                    </button>
                  )}
                </div>
              </article>
            </li>
          );
        })}
      </ul>
      {open.value?.kind === 'read' && <Content reference={open.value.reference} onClose={close} />}
      {open.value?.kind === 'install' && <InstallDialog reference={open.value.reference} onClose={close} />}
    </>
  );
}

function Content({ reference, onClose }: { readonly reference: string; readonly onClose: () => void }): JSX.Element {
  const found = useResource((signal) => call('getSkillContent', { query: { ref: reference }, signal }), [reference]);
  const content = found.data.value;
  return (
    <Dialog title={content?.name ?? reference} onClose={onClose} wide>
      <ProblemNote problem={found.problem.value} />
      {content === undefined && found.problem.value === undefined && <p class="muted">Reading…</p>}
      {content !== undefined && (
        <>
          <p>{content.description}</p>
          {content.license !== undefined && content.license !== '' && <p class="muted">License: {content.license}</p>}
          <div class="readme">{plainText(content.body ?? '')}</div>
          <h3>Files</h3>
          <ul>
            {content.files?.map(({ path, size }) => (
              <li key={path}>
                <code>{path}</code> {size !== undefined && <span class="muted">{size.toLocaleString()} bytes</span>}
              </li>
            ))}
          </ul>
        </>
      )}
    </Dialog>
  );
}
