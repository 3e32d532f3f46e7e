import { setTimeout as pause } from 'node:timers/promises';
import { backOffMs, causesOf, type createOutageLog, GatewayFault, LATE, within } from '@toolmgr/core';
import type { Connection } from '@toolmgr/plugins/kit/redis';
import type { RecordClient } from './record-scripts.ts';

/** Operations at one time, also those that wait for a connection. */
const MAX_OPERATIONS = 10_000;
/** Operations wait for the end of an outage only so long after its begin, or for `sendMs`; then they fail at once. */
const FAILOVER_MS = 10_000;
const REPEAT = { firstMs: 20, maxMs: 250 };

/** Answers of a server that is not the master at this moment, or has no majority. */
const MOVING = /^(READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|UNBLOCKED|NOREPLICAS|Too many Cluster redirections)/;
/** The client's errors when the connection was lost or is not there. */
const DISCONNECTED =
  /^(Connection is closed|Command aborted|Reached the max retries|Stream isn't writeable|Cluster isn't ready|Socket timeout|read E|write E|connect E|EPIPE|All sentinels)/;
const FULL = /^OOM /;

/** Operations that may be executed twice. */
export interface RedisOperations {
  /**
   * Runs one command. During a failover it is sent again for at most `sendMs`; an answer is waited for at most `answerMs`.
   * @throws GatewayFault STORE_UNAVAILABLE; STORE_FULL when the server has no memory
   */
  run<T>(command: (redis: RecordClient) => Promise<T>): Promise<T>;
  close(): void;
}

/** Creates the operations on an open connection. Times in milliseconds. `outage`: logs operations that failed. */
export function createRedisOperations(
  connection: Connection,
  sendMs: number,
  answerMs: number,
  outage?: ReturnType<typeof createOutageLog>,
): RedisOperations {
  const closing = new AbortController();
  let active = 0;
  let failingSinceMs: number | undefined;

  const once = async <T>(command: (redis: RecordClient) => Promise<T>): Promise<T> => {
    const answer = await connection.run((redis) => within(answerMs, undefined, command(redis as RecordClient)));
    if (answer === LATE) throw new GatewayFault('STORE_UNAVAILABLE', `Redis did not answer within ${answerMs} ms`);
    failingSinceMs = undefined;
    if (outage?.isOn) outage.over();
    return answer;
  };

  const repeated = async <T>(command: (redis: RecordClient) => Promise<T>): Promise<T> => {
    const beganMs = performance.now();
    for (let attempt = 1; ; attempt++) {
      try {
        return await once(command);
      } catch (cause) {
        if (causesOf(cause).some((text) => FULL.test(text))) {
          throw new GatewayFault('STORE_FULL', 'Redis has no memory left', { cause });
        }
        const nowMs = performance.now();
        failingSinceMs ??= nowMs;
        const waitMs = backOffMs(attempt, REPEAT);
        const isTooLate = nowMs + waitMs > beganMs + sendMs || nowMs > failingSinceMs + Math.max(FAILOVER_MS, sendMs);
        if (isTooLate || closing.signal.aborted || !isPassing(cause)) {
          outage?.failed(cause);
          throw cause;
        }
        await pause(waitMs, undefined, { signal: closing.signal }).catch(() => {});
      }
    }
  };

  return {
    async run(command) {
      if (active >= MAX_OPERATIONS) {
        throw new GatewayFault('STORE_UNAVAILABLE', `${MAX_OPERATIONS} operations wait for Redis already`);
      }
      active += 1;
      try {
        return await repeated(command);
      } finally {
        active -= 1;
      }
    },
    close() {
      closing.abort();
      connection.close();
    },
  };
}

/** Whether a failover explains an error: the connection is away, or the server is not the master. */
function isPassing(cause: unknown): boolean {
  const [first = '', ...causes] = causesOf(cause);
  return first.endsWith(' is unavailable') || causes.some((text) => MOVING.test(text) || DISCONNECTED.test(text));
}
