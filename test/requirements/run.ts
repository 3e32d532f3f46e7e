import { forms } from './run/forms.ts';
import { identityOptions } from './run/identity-options.ts';
import { proxyOptions } from './run/proxy-options.ts';
import { workloadOptions } from './run/workload-options.ts';

/** Every checkable line of the run spec. */
export const run = [...forms, ...workloadOptions, ...proxyOptions, ...identityOptions] as const;
