import { int32, kube, onlyWithType, secretKeyRef, text } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';
import { refTo } from './fields.ts';

/** `spec.sessionStorage`. Source: vmcp spec §2. */
export const sessionStorage = kube(
  z.strictObject({
    provider: z.enum(['memory', 'redis']).describe('where sessions are kept; several replicas need redis'),
    address: text(512).optional().describe('host:port of Redis'),
    db: int32().default(0).describe('number of the Redis database'),
    keyPrefix: z.string().max(256).optional().describe('prefix of every key'),
    passwordRef: secretKeyRef.optional().describe('password of Redis, in a Secret of the same namespace'),
  }),
  {
    rules: [
      {
        rule: "self.provider != 'redis' || has(self.address)",
        message: 'address is required when provider is redis',
        fieldPath: '.address',
        reason: 'FieldValueRequired',
      },
    ],
  },
);

/** `spec.telemetryConfigRef`. Source: vmcp spec §2. */
export const telemetryConfigRef = refTo('MCPTelemetryConfig').extend({
  serviceName: text(253)
    .optional()
    .describe('service name, unique per server; default: toolmgr- and the name of the server'),
});

const externalAuthConfigRef = refTo('MCPExternalAuthConfig').optional();

const authType = z.enum(['discovered', 'externalAuthConfigRef']);

const refWithType = onlyWithType('externalAuthConfigRef');

/** `spec.outgoingAuth`. Source: vmcp spec §2. */
export const outgoingAuth = z.strictObject({
  source: z
    .enum(['discovered', 'inline'])
    .default('discovered')
    .describe('discovered: the external auth config of each backend; inline: only what is written here'),
  default: kube(z.strictObject({ type: authType, externalAuthConfigRef }), { rules: [refWithType] })
    .optional()
    .describe('for backends without a configuration of their own'),
  backends: z
    .record(z.string(), kube(z.strictObject({ type: authType, externalAuthConfigRef }), { rules: [refWithType] }))
    .optional()
    .describe('by name of the backend; overrides the others with every source'),
});
