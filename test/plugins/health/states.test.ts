import { describe, expect, it } from 'vitest';
import { Breaker } from '../../../plugins/health/breaker.ts';
import {
  afterFailure,
  afterSuccess,
  firstHealthRecord,
  type HealthRecord,
} from '../../../plugins/health/health-record.ts';
import { proves } from '../../support/proves.ts';

const THRESHOLD = 3;
type Event = 'ok' | 'slow' | 'fail' | 'auth';

/** The states after each event. */
function through(events: readonly Event[], threshold = THRESHOLD): string[] {
  let record: HealthRecord = firstHealthRecord(0);
  return events.map((event, at) => {
    const failure = { category: event, isAuth: event === 'auth' };
    record =
      event === 'ok' || event === 'slow'
        ? afterSuccess(record, event === 'slow', at)
        : afterFailure(record, failure, threshold, at);
    return record.status;
  });
}

describe('the health of a backend', () => {
  proves('choice.health.transitions', 'changes as in the table', () => {
    const rows: [readonly Event[], readonly string[]][] = [
      [['ok'], ['healthy']],
      [['slow'], ['degraded']],
      [['fail'], ['unknown']],
      [
        ['ok', 'fail', 'fail', 'fail'],
        ['healthy', 'healthy', 'healthy', 'unhealthy'],
      ],
      [
        ['auth', 'auth', 'auth'],
        ['unknown', 'unknown', 'unauthenticated'],
      ],
      [
        ['fail', 'fail', 'auth'],
        ['unknown', 'unknown', 'unauthenticated'],
      ],
      [
        ['ok', 'fail', 'ok', 'ok'],
        ['healthy', 'healthy', 'degraded', 'healthy'],
      ],
      [
        ['fail', 'fail', 'fail', 'ok', 'ok'],
        ['unknown', 'unknown', 'unhealthy', 'degraded', 'healthy'],
      ],
      [
        ['ok', 'slow', 'slow', 'ok'],
        ['healthy', 'degraded', 'degraded', 'healthy'],
      ],
      [
        ['fail', 'fail', 'ok', 'fail', 'fail', 'fail'],
        ['unknown', 'unknown', 'degraded', 'degraded', 'degraded', 'unhealthy'],
      ],
    ];
    for (const [events, states] of rows) expect(through(events), events.join()).toEqual(states);
    expect(through(['fail'], 1)).toEqual(['unhealthy']);
    expect(through(['auth'], 1)).toEqual(['unauthenticated']);
  });

  it('counts consecutive failures, resets them on success, and dates the last change', () => {
    let record = afterSuccess(firstHealthRecord(0), false, 10);
    record = afterFailure(record, { category: 'timeout', isAuth: false }, THRESHOLD, 20);
    expect(record).toEqual({ status: 'healthy', failures: 1, category: 'timeout', sinceMs: 10 });
    record = afterSuccess(record, false, 30);
    expect(record).toEqual({ status: 'degraded', failures: 0, category: undefined, sinceMs: 30 });
    expect(afterSuccess(record, true, 40).sinceMs).toBe(30);
  });
});

describe('the circuit breaker', () => {
  const rules = { failureThreshold: 3, timeoutMs: 60_000 };
  const opened = () => {
    const breaker = new Breaker(rules, 0);
    for (let n = 0; n < rules.failureThreshold; n++) breaker.failed(1_000);
    return breaker;
  };

  proves('vmcp.state.breaker', 'is closed, open or half-open, and opens after consecutive failures', () => {
    const breaker = new Breaker(rules, 0);
    expect([breaker.failed(1), breaker.failed(2), breaker.state]).toEqual([false, false, 'closed']);
    breaker.succeeded(3);
    expect([breaker.failed(4), breaker.failed(5), breaker.state]).toEqual([false, false, 'closed']);
    expect([breaker.failed(6), breaker.state, breaker.sinceMs, breaker.triesAtMs]).toEqual([true, 'open', 6, 60_006]);
    expect(breaker.failed(7)).toBe(false);
    expect(breaker.triesAtMs).toBe(60_006);
  });

  proves('choice.health.breaker-transitions', 'allows a single attempt after its timeout', () => {
    const breaker = opened();
    expect(breaker.allowsAttempt(60_999)).toBe(false);
    expect(breaker.allowsAttempt(61_000)).toBe(true);
    expect(breaker.state).toBe('half-open');
    expect(breaker.allowsAttempt(61_001)).toBe(false);
    breaker.succeeded(61_002);
    expect([breaker.state, breaker.allowsAttempt(61_003), breaker.isQuiet]).toEqual(['closed', true, true]);
  });

  proves('choice.health.breaker-transitions', 'opens again when the attempt fails', () => {
    const breaker = opened();
    breaker.allowsAttempt(61_000);
    expect([breaker.failed(62_000), breaker.state, breaker.triesAtMs]).toEqual([true, 'open', 122_000]);
    expect(breaker.allowsAttempt(121_999)).toBe(false);
  });

  it('allows another attempt when the last one had no result', () => {
    const breaker = opened();
    breaker.allowsAttempt(61_000);
    breaker.abandoned(61_500);
    expect([breaker.state, breaker.allowsAttempt(61_501), breaker.state]).toEqual(['open', true, 'half-open']);
  });
});
