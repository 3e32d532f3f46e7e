import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { CALLS } from '../../app/call-table.ts';
import { addressOf } from '../../app/calls.ts';
import { readGroups, withGroups } from '../../app/groups.ts';
import { runJob } from '../../app/jobs.ts';
import { bodySchemaOf, readDescription } from '../../app/openapi.ts';
import { sendRequest } from '../../app/request.ts';
import { useResource } from '../../app/resource.ts';
import { openPlace } from '../../app/router.ts';
import { notify } from '../../app/toasts.ts';
import { Form } from '../../widgets/form.tsx';
import { ProblemNote } from '../../widgets/problem-note.tsx';
import { useSubmit } from '../../widgets/use-submit.ts';

const FIRST = [
  'image',
  'url',
  'group',
  'transport',
  'cmd_arguments',
  'env_vars',
  'secrets',
  'volumes',
  'tools',
  'proxy_port',
  'network_isolation',
];

/** The configuration of a workload as a form, made from the schema of the API. What is sent replaces all of it. */
export function EditWorkload({ name }: { readonly name: string }): JSX.Element {
  const loaded = useResource(
    async (signal) => ({
      ...(await readDetail(name, signal)),
      description: await readDescription(signal),
      groups: await readGroups(signal),
    }),
    [name],
  );
  const tag = useRef<Record<string, string>>({});
  tag.current = loaded.data.value?.condition ?? {};
  const { works, problem, submit } = useSubmit<Record<string, unknown>>(async (values) => {
    const { succeeded, detail: failure } = await runJob(`Update ${name}`, 'updateWorkload', {
      path: { name },
      body: values,
      headers: tag.current,
    });
    notify(succeeded ? 'done' : 'failed', succeeded ? `${name} is updated` : failure);
    openPlace('workloads', [name]);
  });
  if (loaded.problem.value !== undefined) return <ProblemNote problem={loaded.problem.value} />;
  if (loaded.data.value === undefined) return <p class="muted">Reading the configuration…</p>;
  const { detail, description, groups } = loaded.data.value;
  const schema = withGroups(bodySchemaOf(description, ...CALLS.updateWorkload), groups);
  const { name: _, ...properties } = schema.properties ?? {};
  return (
    <>
      <p class="muted">The workload starts again with what is saved here.</p>
      <Form
        schema={{ ...schema, properties }}
        root={description}
        initial={detail}
        first={FIRST}
        submit={works ? 'Saving…' : 'Save and restart'}
        disabled={works}
        problem={problem}
        onSubmit={submit}
        onCancel={() => openPlace('workloads', [name])}
      />
    </>
  );
}

/** The configuration, and the condition under which an edit of it is accepted: that it was not changed meanwhile. */
async function readDetail(name: string, signal: AbortSignal) {
  const answer = await sendRequest(addressOf('getWorkload', { path: { name } }), { signal });
  const etag = answer.headers.get('etag');
  const condition: Record<string, string> = etag === null ? {} : { 'if-match': etag };
  return { detail: (await answer.json()) as Record<string, unknown>, condition };
}
