import {
  type Addition,
  int32,
  kube,
  onlyWithType,
  type Rule,
  secretKeyRef,
  text,
} from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';
import { refTo } from './fields.ts';

/** A store outside the process needs an address. */
export const ADDRESS_RULE: Rule = {
  rule: "self.provider != 'redis' || has(self.address)",
  message: 'address is required when provider is redis',
  fieldPath: '.address',
  reason: 'FieldValueRequired',
};

/** The same for the section of a vmcp file, which may name Sentinels instead. */
export const SERVERS_RULE: Rule = {
  ...ADDRESS_RULE,
  rule: `${ADDRESS_RULE.rule} || has(self.sentinelConfig)`,
};

/** Servers of a vmcp file that exclude each other. */
export const REDIS_RULES: readonly Rule[] = [
  {
    rule: '!has(self.address) || !has(self.sentinelConfig)',
    message: 'address and sentinelConfig are mutually exclusive',
    fieldPath: '.sentinelConfig',
    reason: 'FieldValueForbidden',
  },
  {
    rule: '!self.clusterMode || (has(self.address) && self.db == 0)',
    message: 'clusterMode requires address, and db 0',
    fieldPath: '.clusterMode',
  },
  {
    rule: '!has(self.sentinelTls) || has(self.sentinelConfig)',
    message: 'sentinelTls requires sentinelConfig',
    fieldPath: '.sentinelTls',
  },
];

/** What the steps of a composite tool get in objects: the keys that the built-in types need. Source: vmcp spec §2 compositeTools. */
export function stepRules(at: '' | 'compositeTools.[].'): Readonly<Record<string, Addition>> {
  const needs = (key: string, isOther: string, type: string): Rule => ({
    rule: `${isOther} || has(self.${key})`,
    message: `${key} is required when type is ${type}`,
    fieldPath: `.${key}`,
    reason: 'FieldValueRequired',
  });
  const other = (type: string): string => `!has(self.type) || self.type != '${type}'`;
  return {
    [`${at}steps`]: { listMapKeys: ['id'] },
    [`${at}steps.[]`]: {
      rules: [
        needs('tool', "(has(self.type) && self.type != 'tool')", 'tool, the default'),
        needs('message', other('elicitation'), 'elicitation'), // rules cannot read `schema`, which is any JSON
        ...['collection', 'step'].map((key) => needs(key, other('forEach'), 'forEach')),
      ],
    },
  };
}

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
    rules: [ADDRESS_RULE],
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
