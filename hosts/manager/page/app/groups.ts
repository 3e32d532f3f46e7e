import type { FormSchema } from '../widgets/form-schema.ts';
import { call } from './calls.ts';

/** The names of the groups. */
export async function readGroups(signal: AbortSignal): Promise<readonly string[]> {
  const { groups } = await call('listGroups', { signal });
  return (groups ?? []).map(({ name }) => name);
}

/** The field of a workload's group: one of those that exist. */
export function groupSchema(groups: readonly string[]): FormSchema {
  return { type: 'string', enum: groups, description: 'An editor gets the workloads of its groups.' };
}

/** The schema of a workload with the groups that exist. */
export function withGroups(schema: FormSchema, groups: readonly string[]): FormSchema {
  return { ...schema, properties: { ...schema.properties, group: groupSchema(groups) } };
}
