import { z } from 'zod';
import { secretReference } from '../../shared/secret-reference.ts';

const text = z.string().min(1);

/** Who may act for people. Extensions of the contract. */
export const delegationFields = {
  delegateClients: z
    .array(
      z.strictObject({
        clientId: text.describe('client id'),
        clientSecretRef: secretReference.describe('client secret'),
        scopes: z.array(text).default([]).describe('scopes that it may request'),
        audiences: z.array(text).default([]).describe('resources that it may request'),
      }),
    )
    .default([])
    .describe('clients that exchange tokens of people (RFC 8693)'),
  trustedIssuers: z
    .array(z.strictObject({ issuer: text.describe('issuer of accepted tokens') }))
    .default([])
    .describe('issuers whose tokens are exchanged'),
};
