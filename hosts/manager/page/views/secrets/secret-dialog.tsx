import type { JSX } from 'preact';
import { call } from '../../app/calls.ts';
import { notify } from '../../app/toasts.ts';
import { Dialog } from '../../widgets/dialog.tsx';
import { Form } from '../../widgets/form.tsx';
import type { FormSchema } from '../../widgets/form-schema.ts';
import { useSubmit } from '../../widgets/use-submit.ts';

interface SecretDialogProps {
  /** The secret that gets a new value; absent: a new secret. */
  readonly replaces?: string;
  readonly onClose: () => void;
}

const VALUE: FormSchema = {
  type: 'string',
  format: 'password',
  description: 'It is stored encrypted and never shown.',
};

/** Adds a secret, or gives one a new value. */
export function SecretDialog({ replaces, onClose }: SecretDialogProps): JSX.Element {
  const { works, problem, submit } = useSubmit<Record<string, unknown>>(async (values) => {
    if (replaces === undefined) await call('createSecret', { body: values });
    else await call('updateSecret', { path: { key: replaces }, body: values });
    notify('done', replaces === undefined ? `${values.key} is stored` : `${replaces} has a new value`);
    onClose();
  });
  const schema: FormSchema =
    replaces === undefined
      ? {
          type: 'object',
          required: ['key', 'value'],
          properties: { key: { type: 'string', title: 'Name' }, value: VALUE },
        }
      : { type: 'object', required: ['value'], properties: { value: { ...VALUE, title: 'New value' } } };
  return (
    <Dialog title={replaces === undefined ? 'Add a secret' : `Rotate ${replaces}`} onClose={onClose}>
      {replaces !== undefined && <p>Workloads get the new value at their next start.</p>}
      <Form schema={schema} submit="Store" disabled={works} problem={problem} onSubmit={submit} onCancel={onClose} />
    </Dialog>
  );
}
