import type { JSX } from 'preact';
import { call } from '../../app/calls.ts';
import { runJob } from '../../app/jobs.ts';
import { useResource } from '../../app/resource.ts';
import { notify } from '../../app/toasts.ts';
import { Dialog } from '../../widgets/dialog.tsx';
import { Form } from '../../widgets/form.tsx';
import { ProblemNote } from '../../widgets/problem-note.tsx';
import { useSubmit } from '../../widgets/use-submit.ts';
import { inputsSchema, splitInputs } from '../browse/inputs.ts';
import { storeNewSecrets } from '../browse/store-secrets.ts';

/** Shows what an upgrade changes, asks for new variables, and applies it. */
export function UpgradeDialog({ name, onClose }: { readonly name: string; readonly onClose: () => void }): JSX.Element {
  const checks = useResource((signal) => call('checkUpgrades', { query: { all: true }, signal }), [name]);
  const secrets = useResource((signal) => call('listSecrets', { signal }), []);
  const check = checks.data.value?.results?.find((one) => one.workload_name === name);
  const added = check?.env_var_drift?.added ?? [];
  const areSecretsRead = secrets.data.value !== undefined || secrets.problem.value !== undefined;
  const keys = (secrets.data.value?.keys ?? []).map(({ key }) => key);

  const { works, problem, submit } = useSubmit<Record<string, unknown>>(async (values) => {
    const split = splitInputs(added, values);
    const references = await storeNewSecrets(name, split);
    const body = { env: split.env, secrets: references.map((one) => `${one.name},target=${one.target}`) };
    const { succeeded, detail } = await runJob(`Upgrade ${name}`, 'applyUpgrade', { path: { name }, body });
    notify(succeeded ? 'done' : 'failed', succeeded ? `${name} is upgraded` : detail);
    if (succeeded) onClose();
  });
  return (
    <Dialog title={`Upgrade ${name}`} onClose={onClose}>
      <ProblemNote problem={checks.problem.value} />
      {check !== undefined && areSecretsRead && (
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
            submit={works ? 'Upgrading…' : 'Upgrade'}
            disabled={works}
            problem={problem}
            onSubmit={submit}
            onCancel={onClose}
          />
        </>
      )}
    </Dialog>
  );
}
