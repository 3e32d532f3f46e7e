import type { JSX } from 'preact';
import { CALLS } from '../../app/call-table.ts';
import { runJob } from '../../app/jobs.ts';
import { bodySchemaOf, readDescription } from '../../app/openapi.ts';
import { useResource } from '../../app/resource.ts';
import { notify } from '../../app/toasts.ts';
import { Dialog } from '../../widgets/dialog.tsx';
import { Form } from '../../widgets/form.tsx';
import { ProblemNote } from '../../widgets/problem-note.tsx';
import { useSubmit } from '../../widgets/use-submit.ts';

interface InstallDialogProps {
  /** What is installed; absent: the person enters it. */
  readonly reference?: string;
  readonly onClose: () => void;
}

/** Installs a skill. */
export function InstallDialog({ reference, onClose }: InstallDialogProps): JSX.Element {
  const loaded = useResource((signal) => readDescription(signal), []);
  const { works, problem, submit } = useSubmit<Record<string, unknown>>(async (values) => {
    const { succeeded, detail } = await runJob(`Install ${values.name}`, 'installSkill', { body: values });
    notify(succeeded ? 'done' : 'failed', succeeded ? `${values.name} is installed` : detail);
    onClose();
  });
  return (
    <Dialog title={reference === undefined ? 'Install a skill' : `Install ${reference}`} onClose={onClose}>
      <ProblemNote problem={loaded.problem.value} />
      {loaded.data.value !== undefined && (
        <Form
          schema={bodySchemaOf(loaded.data.value, ...CALLS.installSkill)}
          root={loaded.data.value}
          initial={reference === undefined ? {} : { name: reference }}
          first={['name', 'version', 'scope', 'project_root', 'clients']}
          submit={works ? 'Installing…' : 'Install'}
          disabled={works}
          problem={problem}
          onSubmit={submit}
          onCancel={onClose}
        />
      )}
    </Dialog>
  );
}
