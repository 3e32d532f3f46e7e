import type { JSX } from 'preact';
import { CALLS } from '../../app/call-table.ts';
import { readGroups, withGroups } from '../../app/groups.ts';
import { runJob } from '../../app/jobs.ts';
import { bodySchemaOf, readDescription } from '../../app/openapi.ts';
import { useResource } from '../../app/resource.ts';
import { linkTo, openPlace } from '../../app/router.ts';
import { notify } from '../../app/toasts.ts';
import { Form } from '../../widgets/form.tsx';
import { ProblemNote } from '../../widgets/problem-note.tsx';
import { useSubmit } from '../../widgets/use-submit.ts';

const FIRST = ['name', 'image', 'url', 'cmd_arguments', 'env_vars', 'secrets', 'group'];

/** Runs an image, a package or a remote server that the registry does not have. */
export function CustomRun(): JSX.Element {
  const loaded = useResource(
    async (signal) => ({ description: await readDescription(signal), groups: await readGroups(signal) }),
    [],
    ['group'],
  );
  const { works, problem, submit } = useSubmit<Record<string, unknown>>(async (values) => {
    const name = String(values.name);
    const { succeeded, detail } = await runJob(`Start ${name}`, 'createWorkload', { body: values });
    notify(succeeded ? 'done' : 'failed', succeeded ? `${name} runs` : detail);
    openPlace('workloads', [name], succeeded ? { new: 'yes' } : { tab: 'logs' });
  });
  return (
    <>
      <p class="back">
        <a href={linkTo('browse')}>Browse</a>
      </p>
      <div class="title">
        <h1>Run an image or a package</h1>
      </div>
      <ProblemNote problem={loaded.problem.value} />
      {loaded.data.value !== undefined && (
        <Form
          schema={withGroups(
            bodySchemaOf(loaded.data.value.description, ...CALLS.createWorkload),
            loaded.data.value.groups,
          )}
          root={loaded.data.value.description}
          first={FIRST}
          submit={works ? 'Starting…' : 'Run'}
          disabled={works}
          problem={problem}
          onSubmit={submit}
        />
      )}
    </>
  );
}
