import type { JSX } from 'preact';
import { CALLS } from '../../app/call-table.ts';
import { call } from '../../app/calls.ts';
import { groupSchema, readGroups } from '../../app/groups.ts';
import { runJob } from '../../app/jobs.ts';
import { bodySchemaOf, type Description, readDescription } from '../../app/openapi.ts';
import { ApiProblem } from '../../app/problem.ts';
import { useResource } from '../../app/resource.ts';
import { linkTo, openPlace } from '../../app/router.ts';
import type { EnvVar, RegistryServer } from '../../app/shapes.ts';
import { notify } from '../../app/toasts.ts';
import { Form } from '../../widgets/form.tsx';
import type { FormSchema } from '../../widgets/form-schema.ts';
import { ProblemNote } from '../../widgets/problem-note.tsx';
import { useSubmit } from '../../widgets/use-submit.ts';
import { inputsSchema, splitInputs } from './inputs.ts';
import { storeNewSecrets } from './store-secrets.ts';

/** Settings of a new workload that the form offers beside the inputs of the entry, with the schemas of the API. */
const SETTINGS = [
  'group',
  'cmd_arguments',
  'volumes',
  'tools',
  'proxy_port',
  'network_isolation',
  'permission_profile',
];

interface RunFormProps {
  readonly entry: RegistryServer;
  readonly isRemote: boolean;
}

/** Runs a server of the registry: its inputs and secrets, a name, and settings. */
export function RunForm({ entry, isRemote }: RunFormProps): JSX.Element {
  const loaded = useResource((signal) => readChoices(signal), [entry.name], ['secret', 'group', 'workload']);
  const variables = entry.env_vars ?? [];
  const headers = isRemote ? (entry.headers ?? []) : [];
  const { works, problem, submit } = useSubmit<Record<string, unknown>>(async (values) => {
    const name = String(values.name);
    const body = await bodyOf(name, entry, { variables, headers, values });
    const { succeeded, detail } = await runJob(`Start ${name}`, 'createWorkload', { body }).catch(throwForForm);
    notify(succeeded ? 'done' : 'failed', succeeded ? `${name} runs` : detail);
    openPlace('workloads', [name], succeeded ? { new: 'yes' } : { tab: 'logs' });
  });
  if (loaded.data.value === undefined) return <ProblemNote problem={loaded.problem.value} />;
  const { description, hasProvider, secretKeys, groups, names } = loaded.data.value;
  const schema = formSchema(description, [...variables, ...headers], secretKeys, groups);
  const first = [
    'name',
    ...[...variables, ...headers].map(inputKey),
    ...(entry.required_args?.length ? ['cmd_arguments'] : []),
  ];

  return (
    <>
      {entry.required_args !== undefined && entry.required_args.length > 0 && (
        <p class="note">This server needs arguments: {entry.required_args.join(', ')}</p>
      )}
      {!hasProvider && [...variables, ...headers].some(({ secret }) => secret) && (
        <p class="note">
          This server takes secrets, and no place for them is set up yet.{' '}
          <a href={linkTo('secrets')}>Set it up first</a>.
        </p>
      )}
      <Form
        schema={schema}
        root={description}
        initial={{ name: freeName(entry.name, names) }}
        first={first}
        submit={works ? 'Starting…' : 'Run'}
        disabled={works}
        problem={problem}
        onSubmit={submit}
      />
      {works && (
        <p class="muted" role="status">
          The first start takes as long as its image needs to arrive.
        </p>
      )}
    </>
  );
}

interface Choices {
  readonly description: Description;
  readonly hasProvider: boolean;
  readonly secretKeys: readonly string[];
  readonly groups: readonly string[];
  readonly names: readonly string[];
}

async function readChoices(signal: AbortSignal): Promise<Choices> {
  const [description, secrets, groups, workloads] = await Promise.all([
    readDescription(signal),
    call('listSecrets', { signal }).catch(() => undefined), // no provider is set up yet
    readGroups(signal),
    call('listWorkloads', { query: { all: true }, signal }),
  ]);
  return {
    description,
    hasProvider: secrets !== undefined,
    secretKeys: (secrets?.keys ?? []).map(({ key }) => key),
    groups,
    names: (workloads.workloads ?? []).map(({ name }) => name),
  };
}

/** Inputs of the entry are members beside the settings; a prefix keeps them apart. */
const inputKey = ({ name }: EnvVar): string => `input ${name}`;

function formSchema(
  description: Description,
  inputs: readonly EnvVar[],
  secretKeys: readonly string[],
  groups: readonly string[],
): FormSchema {
  const keyed = inputs.map((input) => ({ ...input, name: inputKey(input) }));
  const asked = inputsSchema(keyed, secretKeys);
  const titled = Object.entries(asked.properties ?? {}).map(([key, member]) => [
    key,
    { ...member, title: key.slice(6) },
  ]);
  const members = bodySchemaOf(description, ...CALLS.createWorkload).properties ?? {};
  const settings = SETTINGS.flatMap((name) => (members[name] === undefined ? [] : [[name, members[name]]]));
  return {
    type: 'object',
    required: ['name', ...(asked.required ?? [])],
    properties: {
      name: { type: 'string', description: 'How the workload is called here.' },
      ...Object.fromEntries(titled),
      ...Object.fromEntries(settings),
      group: groupSchema(groups),
    },
  };
}

interface Given {
  readonly variables: readonly EnvVar[];
  readonly headers: readonly EnvVar[];
  readonly values: Readonly<Record<string, unknown>>;
}

async function bodyOf(name: string, entry: RegistryServer, given: Given): Promise<Record<string, unknown>> {
  const { variables, headers, values } = given;
  const inputs = Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => (key.startsWith('input ') ? [[key.slice(6), value]] : [])),
  );
  const settings = Object.fromEntries(Object.entries(values).filter(([key]) => SETTINGS.includes(key)));
  const split = splitInputs(variables, inputs);
  const splitHeaders = splitInputs(headers, inputs);
  const secrets = await storeNewSecrets(name, split);
  const headerSecrets = await storeNewSecrets(name, splitHeaders);
  const forward = {
    ...(Object.keys(splitHeaders.env).length > 0 ? { add_plaintext_headers: splitHeaders.env } : {}),
    ...(headerSecrets.length > 0
      ? { add_headers_from_secret: Object.fromEntries(headerSecrets.map(({ name: key, target }) => [target, key])) }
      : {}),
  };
  return {
    ...settings,
    name,
    registry: 'default',
    server: entry.name,
    ...(Object.keys(split.env).length > 0 ? { env_vars: split.env } : {}),
    ...(secrets.length > 0 ? { secrets } : {}),
    ...(Object.keys(forward).length > 0 ? { header_forward: forward } : {}),
  };
}

/** The faults of variables belong to the fields of the inputs. */
function throwForForm(problem: unknown): never {
  if (!(problem instanceof ApiProblem)) throw problem;
  const fields = problem.fields.map(({ path, detail }) => ({ path: path.replace(/^env_vars\./, 'input '), detail }));
  throw new ApiProblem(problem.message, problem.status, problem.code, fields);
}

/** The last part of the entry's name, with a number when it is taken. */
function freeName(entry: string, taken: readonly string[]): string {
  const short = (entry.split('/').pop() ?? entry).replace(/[^a-zA-Z0-9._-]+/g, '-').slice(0, 90);
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? short : `${short}-${number}`;
    if (!taken.includes(name)) return name;
  }
}
