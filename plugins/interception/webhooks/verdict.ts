import { fieldPath, isObject, parsedJson } from '@toolmgr/core';
import { z } from 'zod';
import { patchSchema } from './patch.ts';
import { PAYLOAD_VERSION } from './payload.ts';

/** Status with which a webhook denies, whatever its body says. */
export const DENYING_STATUS = 422;

/** The body of a response with status 200. Source: run reference §8.5. */
const answerSchema = z.looseObject({
  version: z.literal(PAYLOAD_VERSION).optional(),
  uid: z.string(),
  allowed: z.boolean(),
  code: z.unknown().optional(),
  message: z.string().optional(),
  reason: z.string().optional(),
  details: z.record(z.string(), z.unknown()).nullish(),
});

const mutatingSchema = answerSchema.extend({
  patch_type: z.literal('json_patch').optional(),
  patch: patchSchema.nullish(),
});

/** What a valid response says. */
export type Verdict =
  | { readonly allowed: true; readonly patch: z.output<typeof patchSchema> }
  | { readonly allowed: false; readonly status: number; readonly message?: string | undefined };

/** Reads a response. A text says why it is not valid; it quotes nothing of the body. */
export function readVerdict(
  kind: 'mutating' | 'validating',
  uid: string,
  answer: { readonly status: number; readonly body: Buffer },
): Verdict | string {
  if (answer.status === DENYING_STATUS) return { allowed: false, status: DENYING_STATUS };
  if (answer.status !== 200) return `the response has status ${answer.status}, expected 200 or ${DENYING_STATUS}`;
  const body = parsedJson(answer.body); // a parser's message would quote the body
  if (!isObject(body)) return 'the response is not a JSON object';
  const read = (kind === 'mutating' ? mutatingSchema : answerSchema).safeParse(body);
  if (!read.success) return `the response is not valid: ${placesOf(read.error)}`;
  if (read.data.uid !== uid) return 'the response has another uid than the request';
  if (!read.data.allowed) return { allowed: false, status: 403, message: read.data.message ?? read.data.reason };
  const { patch, patch_type: type } = read.data as z.output<typeof mutatingSchema>;
  if (kind === 'mutating' && patch?.length && type === undefined) return 'the response has a patch without patch_type';
  return { allowed: true, patch: kind === 'mutating' ? (patch ?? []) : [] };
}

function placesOf({ issues }: z.ZodError): string {
  return issues
    .slice(0, 3)
    .map(({ path, message }) => `${fieldPath(path)}: ${message}`)
    .join('; ');
}
