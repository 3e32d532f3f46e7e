import { describe, expect, it } from 'vitest';
import { createFindings } from '../../../../hosts/operator/resolve/findings.ts';

const condition = (message: string, lastTransitionTime: string, status: 'True' | 'False' = 'False') => ({
  ...{ type: 'AuthConfigured', status, reason: 'AuthInvalid', message, lastTransitionTime },
});
const failing = (previous: ReturnType<typeof condition>[], message = 'no secret a') => {
  const findings = createFindings(1, previous);
  findings.fail('AuthConfigured', 'AuthInvalid', message, 'SecretValidationFailed');
  return findings.result().events.map(({ transition }) => transition);
};

describe('events of a failed check', () => {
  it('are one per transition, also after a crash before the status was written', () => {
    const first = failing([]);
    expect(first).toHaveLength(1);
    expect(failing([])).toEqual(first); // the same transition: reported once
    expect(failing([condition('no secret a', '2026-01-01T00:00:00Z')])).toEqual([]);
  });

  it('are new after a success, and for another message', () => {
    const [again] = failing([condition('', '2026-01-02T00:00:00Z', 'True')]);
    const [later] = failing([condition('', '2026-01-03T00:00:00Z', 'True')]);
    const [other] = failing([condition('no secret a', '2026-01-03T00:00:00Z')], 'no secret b');
    expect(new Set([again, later, other, ...failing([])]).size).toBe(4);
  });
});

describe('findings', () => {
  it('have the outcome of the first failure and all conditions', () => {
    const findings = createFindings(1, []);
    findings.tell('A', 'True', 'Fine', '');
    findings.wait('B', 'NotReady', 'wait for b');
    findings.fail('C', 'Wrong', 'c is wrong');
    findings.fail('C', 'Wrong', 'c is wrong in another way');
    expect(findings.result()).toEqual({
      outcome: { result: 'waiting', phase: 'Pending', message: 'wait for b' },
      conditions: [
        { type: 'A', status: 'True', reason: 'Fine', message: '' },
        { type: 'B', status: 'False', reason: 'NotReady', message: 'wait for b' },
        { type: 'C', status: 'False', reason: 'Wrong', message: 'c is wrong' },
      ],
      events: [],
    });
  });

  it('cut messages to the limits of conditions and events', () => {
    const findings = createFindings(1, []);
    findings.fail('A', 'Wrong', 'x'.repeat(40_000), 'Wrong');
    const { conditions, events } = findings.result();
    expect(conditions[0]?.message).toHaveLength(32_768);
    expect(events[0]?.message).toHaveLength(1024);
    expect(events[0]?.transition.length).toBeLessThan(2000);
  });
});
