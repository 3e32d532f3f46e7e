import type { JSX } from 'preact';
import { call } from '../../app/calls.ts';
import { useResource } from '../../app/resource.ts';
import { notify } from '../../app/toasts.ts';
import { Dialog } from '../../widgets/dialog.tsx';
import { Form } from '../../widgets/form.tsx';
import { ProblemNote } from '../../widgets/problem-note.tsx';
import { useSubmit } from '../../widgets/use-submit.ts';

/** Registers a client. What will be written is shown first. */
export function RegisterDialog({
  name,
  onClose,
}: {
  readonly name: string;
  readonly onClose: () => void;
}): JSX.Element {
  const groups = useResource((signal) => call('listGroups', { signal }), []);
  const { works, problem, submit } = useSubmit<Record<string, unknown>>(async (values) => {
    await call('registerClient', { body: { ...values, name } });
    notify('done', `${name} is registered`);
    onClose();
  });
  const names = (groups.data.value?.groups ?? []).map((group) => group.name);
  return (
    <Dialog title={`Register ${name}`} onClose={onClose} wide>
      <ProblemNote problem={groups.problem.value} />
      {groups.data.value !== undefined && (
        <Form
          schema={{
            type: 'object',
            properties: {
              groups: {
                type: 'array',
                items: { enum: names },
                title: 'Groups',
                description: 'It gets the workloads of these groups. Default: the group default.',
              },
            },
          }}
          submit="Register"
          disabled={works}
          problem={problem}
          onSubmit={submit}
          onCancel={onClose}
        />
      )}
    </Dialog>
  );
}
