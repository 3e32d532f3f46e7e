import {
  durationRule,
  forbidden,
  type KubeMeta,
  MAX_DURATION,
  type Rule,
  requires,
} from '@toolmgr/plugins/kit/kubernetes';
import { byPath } from '../../vmcp/host-keys.ts';
import { REDIS_RULES, SERVERS_RULE, stepRules } from './shared-sections.ts';

/** Source: vmcp spec §2 aggregation. */
const AGGREGATION_RULES: readonly Rule[] = [
  {
    rule: "(self.conflictResolution == 'priority') == (has(self.conflictResolutionConfig) && has(self.conflictResolutionConfig.priorityOrder) && size(self.conflictResolutionConfig.priorityOrder) > 0)",
    message: 'priorityOrder must be set when conflictResolution is priority, and only then',
    fieldPath: '.conflictResolutionConfig',
  },
  requires('tools', "self.conflictResolution == 'manual'", 'tools are required when conflictResolution is manual'),
];

/** Source: vmcp spec §2 backends[]; `command` is an extension. */
const BACKEND_RULES: readonly Rule[] = [
  {
    rule: "(self.transport == 'stdio') != has(self.url)",
    message: 'url must be set unless transport is stdio, which has a command',
    fieldPath: '.url',
  },
  {
    rule: "(self.transport == 'stdio') == has(self.command)",
    message: 'command must be set when transport is stdio, and only then',
    fieldPath: '.command',
  },
  forbidden(
    'caBundlePath',
    "has(self.type) && self.type == 'entry'",
    'caBundlePath applies only to backends of type entry',
  ),
];

/** Bounds the cost of rules of their steps. */
const MAX_COMPOSITE_TOOLS = 500;
const OVERRIDES = 'aggregation.tools.[].overrides.*';

/** What `spec.config` gets beside the schemas of the plugins: what a pod would refuse, the API server refuses. */
export const CONFIG: KubeMeta['within'] = {
  '': { forbidden: { kubernetes: 'the operator writes it for the pods' } },
  'incomingAuth.authz': { required: ['type'] },
  ...byPath(({ inCluster }) => inCluster),
  compositeTools: { maxItems: MAX_COMPOSITE_TOOLS, listMapKeys: ['name'] },
  ...stepRules('compositeTools.[].'),
  aggregation: { rules: AGGREGATION_RULES },
  'aggregation.conflictResolutionConfig.prefixFormat': { pattern: '^([^{}]|[{]workload[}])*$' },
  'aggregation.tools': { listMapKeys: ['workload'] },
  [OVERRIDES]: { minProperties: 1 },
  [`${OVERRIDES}.annotations`]: { minProperties: 1 },
  backends: { listMapKeys: ['name'] },
  'backends.[]': { rules: BACKEND_RULES },
  'operational.failureHandling.circuitBreaker.timeout': { maxLength: MAX_DURATION, rules: [durationRule('1s')] },
  sessionStorage: { rules: [SERVERS_RULE, ...REDIS_RULES] },
};
