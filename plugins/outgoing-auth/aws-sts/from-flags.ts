import { inCamelCase } from '@toolmgr/plugins/kit/settings';
import type { FromFlags } from '@toolmgr/plugins/kit/workloads';

/** Credentials of AWS. */
export const fromFlags: FromFlags = {
  where: 'aws_sts_config',
  plan: ({ aws_sts_config: given }) =>
    given === undefined ? {} : { strategy: { type: 'aws_sts', options: inCamelCase(given) } },
};
