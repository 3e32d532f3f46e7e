import { workloadName } from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';
import type { FieldsOfBody } from '../../workloads/fields/fields.ts';
import { acceptedMembers } from '../../workloads/fields/member-schemas.ts';

/** A workload as a request gives it: the fields that the HTTP API has. Source: reference workload-api §2.7. */
export interface WorkloadBody extends FieldsOfBody {
  name?: string | undefined;
}

/** The body of an edit: what `GET` answers can be sent back. */
export const editBody = z.strictObject({
  name: z.string().optional().describe('the name, which cannot be changed'),
  ...acceptedMembers(),
}) as z.ZodType<WorkloadBody>;

/** The body of a creation. */
export const createBody = z
  .strictObject({ name: workloadName.describe('name of the workload'), ...acceptedMembers() })
  .refine(({ registry, server }: WorkloadBody) => Boolean(registry) === Boolean(server), {
    path: ['server'],
    message: 'expected registry and server together',
  }) as z.ZodType as z.ZodType<WorkloadBody & { name: string }>;
