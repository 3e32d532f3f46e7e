import { describe, expect, it } from 'vitest';
import { proxyPhase } from '../../../../../hosts/operator/controllers/proxy/proxy-phase.ts';

describe('the phase of a proxy', () => {
  it('says what to check while the server does not answer', () => {
    const input = {
      outcome: { result: 'ready' },
      proxy: { ready: 0, current: 0, isScaledToZero: false, running: 1 },
      isStopped: false,
    } as const;
    expect(proxyPhase({ ...input, server: { ready: 1, current: 1, isScaledToZero: false, running: 1 } })).toMatchObject(
      {
        phase: 'Pending',
        reason: 'ServerNotReady',
        message: expect.stringContaining('check that the server speaks spec.transport'),
      },
    );
    expect(proxyPhase(input).message).toContain('check spec.remoteUrl, spec.transport');
  });
});
