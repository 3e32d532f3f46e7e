import type { JsonObject } from '@toolmgr/core';
import { secretOf } from '@toolmgr/plugins/kit/secrets';
import { z } from 'zod';
import type { TokenRow } from './accounts.ts';

const secret = z.string().transform(secretOf);

/** A stored row. Unknown members are ignored, because replicas of two versions may share a storage for a while. */
const tokenRow = z.object({
  identity: z.object({
    subject: z.string(),
    name: z.string().optional(),
    email: z.string().optional(),
    isSynthetic: z.boolean(),
    claims: z.custom<JsonObject>((value) => typeof value === 'object' && value !== null),
  }),
  tokens: z.object({
    accessToken: secret,
    refreshToken: secret.optional(),
    idToken: secret.optional(),
    scope: z.string().optional(),
    expiresMs: z.number().optional(),
    clientId: z.string(),
    idTokenSubject: z.string().optional(),
  }),
  connectedMs: z.number(),
  issuedMs: z.number(),
  problem: z.enum(['refused', 'unchecked', 'invalid']).optional(),
});

/** The record of a row. It has the tokens as text; the storage encrypts records when it has a key. */
export function recordFromRow({ tokens, ...row }: TokenRow): JsonObject {
  const { accessToken, refreshToken, idToken, ...rest } = tokens;
  return withoutAbsent({
    ...row,
    identity: withoutAbsent({ ...row.identity }),
    tokens: withoutAbsent({
      ...rest,
      accessToken: accessToken.reveal(),
      refreshToken: refreshToken?.reveal(),
      idToken: idToken?.reveal(),
    }),
  });
}

/** The row of a record; `undefined` when it is not one. */
export function rowFromRecord(record: JsonObject): TokenRow | undefined {
  return tokenRow.safeParse(record).data;
}

function withoutAbsent(members: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject;
}
