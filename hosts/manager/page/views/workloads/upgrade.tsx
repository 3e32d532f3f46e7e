import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { call } from '../../app/calls.ts';
import { runJob } from '../../app/jobs.ts';
import { ApiProblem, sentenceOf } from '../../app/problem.ts';
import { useResource } from '../../app/resource.ts';
import { notify } from '../../app/toasts.ts';
import { Dialog } from '../../widgets/dialog.tsx';
import { Form } from '../../widgets/form.tsx';
import { ProblemNote } from '../../widgets/problem-note.tsx';
import { inputsSchema, splitInputs } from '../browse/inputs.ts';

/** Shows what an upgrade changes, asks for new variables, and applies it. */
export function UpgradeDialog({ name, onClose }: { readonly name: string; readonly onClose: () => void }): JSX.Element {
  const checks = useResource((signal) => call('checkUpgrades', { query: { all: true }, signal }), [name]);
  const secrets = useResource((signal) => call('listSecrets', { signal }), []);
  const problem = useSignal<ApiProblem | undefined>(undefined);
  const works = useSignal(false);
  const check = checks.data.value?.results?.find((one) => one.workload_name === name);
  const added = check?.env_var_drift?.added ?? [];
  const keys = (secrets.data.value?.keys ?? []).map(({ key }) => key);

  const apply = async (values: Readonly<Record<string, unknown>>): Promise<void> => {
    works.value = true;
    problem.value = undefined;
    const { env, secrets: references } = splitInputs(added, values);
    const body = { env, secrets: references.map(({ name: secret, target }) => `${secret},target=${target}`) };
    try {
      const { succeeded, detail } = await runJob(`Upgrade ${name}`, 'applyUpgrade', { path: { name }, body });
      notify(succeeded ? 'done' : 'failed', succeeded ? `${name} is upgraded` : detail);
      if (succeeded) onClose();
    } catch (error) {
      problem.value = error instanceof ApiProblem ? error : new ApiProblem(sentenceOf(error), 0, '');
    } finally {
      works.value = false;
    }
  };
  return (
    <Dialog title={`Upgrade ${name}`} onClose={onClose}>
      <ProblemNote problem={checks.problem.value} />
      {check !== undefined && (
        <>
          <dl class="facts">
            <dt>Now</dt>
            <dd>
              <code>{check.current_image}</code>
            </dd>
            <dt>After</dt>
            <dd>
              <code>{check.candidate_image}</code>
            </dd>
            {Object.entries(check.config_drift ?? {}).map(([field, change]) => (
              <>
                <dt>{field.replaceAll('_', ' ')}</dt>
                <dd>
                  {change?.from} → {change?.to} (shown only; the upgrade does not change it)
                </dd>
              </>
            ))}
          </dl>
          <p>The new image is verified and pulled first. If it does not become ready, the present one runs again.</p>
          <Form
            schema={inputsSchema(added, keys)}
            submit={works.value ? 'Upgrading…' : 'Upgrade'}
            disabled={works.value}
            problem={problem.value}
            onSubmit={(values) => void apply(values)}
            onCancel={onClose}
          />
        </>
      )}
    </Dialog>
  );
}
