import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { call } from '../../app/calls.ts';
import { useResource } from '../../app/resource.ts';
import type { ClientChange } from '../../app/shapes.ts';
import { notify } from '../../app/toasts.ts';
import { Dialog } from '../../widgets/dialog.tsx';
import { DiffText } from '../../widgets/diff-text.tsx';
import { Form } from '../../widgets/form.tsx';
import { Name } from '../../widgets/name.tsx';
import { ProblemNote } from '../../widgets/problem-note.tsx';
import { useSubmit } from '../../widgets/use-submit.ts';

interface RegisterDialogProps {
  readonly name: string;
  readonly action: 'register' | 'unregister';
  readonly onClose: () => void;
}

/** Registers a client or ends that. What is written into its file is shown first. */
export function RegisterDialog({ name, action, onClose }: RegisterDialogProps): JSX.Element {
  const groups = useResource((signal) => call('listGroups', { signal }), []);
  const chosen = useSignal<unknown>(undefined);
  const preview = useResource(
    (signal) => call('previewClients', { body: { action, names: [name], groups: chosen.value }, signal }),
    [JSON.stringify(chosen.value)],
  );
  const { works, problem, submit } = useSubmit<Record<string, unknown>>(async (values) => {
    if (action === 'register') await call('registerClient', { body: { ...values, name } });
    else await call('unregisterClients', { body: { ...values, names: [name] } });
    notify('done', action === 'register' ? `${name} is registered` : `${name} is no longer registered`);
    onClose();
  });
  const names = (groups.data.value?.groups ?? []).map((group) => group.name);
  const preset = action === 'register' && names.includes('default') ? { groups: ['default'] } : {};
  const verb = action === 'register' ? 'Register' : 'Unregister';
  return (
    <Dialog title={`${verb} ${name}`} onClose={onClose} wide>
      <ProblemNote problem={groups.problem.value} />
      <ProblemNote problem={preview.problem.value} />
      {preview.data.value?.map((change) => (
        <Change key={change.client} change={change} />
      ))}
      {groups.data.value !== undefined && (
        <Form
          schema={{
            type: 'object',
            properties: {
              groups: {
                type: 'array',
                items: { enum: names },
                title: 'Groups',
                description:
                  action === 'register'
                    ? 'It gets the workloads of these groups.'
                    : 'Groups that it leaves. Default: all.',
              },
            },
          }}
          initial={preset}
          submit={verb}
          disabled={works}
          problem={problem}
          onChange={(values) => {
            chosen.value = values.groups;
          }}
          onSubmit={submit}
          onCancel={onClose}
        />
      )}
    </Dialog>
  );
}

function Change({ change }: { readonly change: ClientChange }): JSX.Element {
  const { path, diff = '', conflicts = [] } = change;
  return (
    <>
      <p>
        {diff === '' ? 'Nothing changes in' : 'This is written into'}{' '}
        <code>
          <Name text={path} />
        </code>
        {diff === '' && ' now; workloads that start later are added.'}
      </p>
      {diff !== '' && <DiffText diff={diff} label="Changes of the file" />}
      {conflicts.map(({ name, why }) => (
        <p class="note" key={name}>
          <Name text={`${name} stays as it is: ${why}`} />
        </p>
      ))}
    </>
  );
}
