import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { CALLS } from '../../app/call-table.ts';
import { call } from '../../app/calls.ts';
import { bodySchemaOf, readDescription } from '../../app/openapi.ts';
import { useResource } from '../../app/resource.ts';
import { notify } from '../../app/toasts.ts';
import { Dialog } from '../../widgets/dialog.tsx';
import { Form } from '../../widgets/form.tsx';
import { ProblemNote } from '../../widgets/problem-note.tsx';
import { useSubmit } from '../../widgets/use-submit.ts';

interface ProviderDialogProps {
  readonly present: string | undefined;
  readonly onClose: () => void;
}

const ABOUT: Readonly<Record<string, string>> = {
  encrypted:
    'An encrypted file on this machine. Without a password here a random one is made. It is kept in the keyring of the system, or ' +
    'in a file of yours where there is no keyring.',
  '1password': 'Items of 1Password, read through its command line. Nothing is written there.',
  keyring: 'Entries in the keyring of the system: login keyring, Credential Manager or Secret Service.',
  environment: 'Variables of the manager named TOOLMGR_SECRET_NAME. Nothing is written.',
};

/** Sets up where secrets are kept. */
export function ProviderDialog({ present, onClose }: ProviderDialogProps): JSX.Element {
  const loaded = useResource((signal) => readDescription(signal), []);
  const chosen = useSignal(present ?? 'encrypted');
  const { works, problem, submit } = useSubmit<Record<string, unknown>>(async (values) => {
    const { message } = await call('setUpSecretProvider', { body: values });
    notify('done', message ?? 'The provider is set up');
    onClose();
  });
  const description = loaded.data.value;
  const schema = description === undefined ? {} : bodySchemaOf(description, ...CALLS.setUpSecretProvider);
  const { password, new_password: newPassword, ...others } = schema.properties ?? {};
  const passwords =
    chosen.value === 'encrypted'
      ? {
          ...(password === undefined ? {} : { password: { ...password, format: 'password' } }),
          ...(newPassword === undefined ? {} : { new_password: { ...newPassword, format: 'password' } }),
        }
      : {};
  return (
    <Dialog title="Provider of secrets" onClose={onClose}>
      <ProblemNote problem={loaded.problem.value} />
      {description !== undefined && (
        <>
          <p>{ABOUT[chosen.value]}</p>
          <Form
            schema={{ ...schema, properties: { ...others, ...passwords } }}
            root={description}
            initial={{ provider_type: chosen.value }}
            submit={works ? 'Setting up…' : 'Set up'}
            disabled={works}
            problem={problem}
            onChange={(values) => {
              chosen.value = String(values.provider_type ?? '');
            }}
            onSubmit={submit}
            onCancel={onClose}
          />
        </>
      )}
    </Dialog>
  );
}
