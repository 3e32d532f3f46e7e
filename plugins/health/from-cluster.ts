import { durationRule, type FromCluster, MAX_DURATION } from '@toolmgr/plugins/kit/kubernetes';

export const rules: FromCluster['rules'] = {
  within: { 'circuitBreaker.timeout': { maxLength: MAX_DURATION, rules: [durationRule('1s')] } },
};
