import { expect } from 'vitest';
import { endpointPlan } from '../../../../hosts/manager/endpoints/plan.ts';
import { CALL_TIMEOUT_MS } from '../../../../hosts/shared/call-timeout.ts';
import { proves } from '../../../support/proves.ts';

proves(
  'choice.manager.endpoint-timeout',
  'a call at an endpoint of the manager may take as long as at the workload itself',
  () => {
    for (const kind of ['groups', 'workloads'] as const) {
      const plan = endpointPlan({ kind, name: 'one' }, { stateDir: '/nowhere', address: {} as never });
      expect(plan.timeouts).toEqual({ defaultMs: CALL_TIMEOUT_MS });
    }
    expect(CALL_TIMEOUT_MS).toBe(600_000);
  },
);
