import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Gateway } from '@toolmgr/core';

/** Forwards requests to the current gateway, which can be replaced while requests run. */
export interface GatewaySwitch extends AsyncDisposable {
  readonly current: Gateway;
  /** `stop` or `announceStop` was called. */
  readonly isStopping: boolean;
  /** `isStopping` is true from now on; requests are served until `stop`. */
  announceStop(): void;
  handle(request: IncomingMessage, response: ServerResponse): void;
  /**
   * Sends new requests to `next`. The previous gateway finishes its calls in the background without a time limit: a call
   * ends with the plugins it began with. Client sessions continue if `next` was created as the successor; otherwise they
   * end, and clients open new ones as MCP requires.
   */
  exchange(next: Gateway): void;
  /** Stops the current gateway and the retired ones; each gives running calls its `limits.stopMs`. */
  stop(): Promise<void>;
}

/** A replaced gateway that still has calls to finish. */
interface RetiredGateway {
  readonly stopped: Promise<void>;
  /** Stops without waiting longer: running calls have `limits.stopMs` left. */
  stopNow(): void;
}

/** Creates a switch in front of `first`. `onFailure` is called when a gateway fails to stop. */
export function createSwitch(first: Gateway, onFailure: (cause: unknown) => void = () => {}): GatewaySwitch {
  let current = first;
  let isStopping = false;
  let isAnnounced = false;
  const retiring = new Set<RetiredGateway>();
  const retire = (gateway: Gateway): void => {
    const { promise: stopRequested, resolve: stopNow } = Promise.withResolvers<void>();
    const stopped = Promise.race([gateway.drained(), stopRequested])
      .then(() => gateway.stop())
      .catch(onFailure);
    const one: RetiredGateway = { stopped, stopNow };
    retiring.add(one);
    void stopped.then(() => retiring.delete(one));
    if (isStopping) return stopNow();
    if (retiring.size > MAX_RETIRING) [...retiring][0]?.stopNow();
  };
  const stop = async (): Promise<void> => {
    if (!isStopping) {
      isStopping = true;
      retire(current);
      for (const one of retiring) one.stopNow();
    }
    await Promise.all([...retiring].map(({ stopped }) => stopped));
  };
  return {
    get current() {
      return current;
    },
    get isStopping() {
      return isStopping || isAnnounced;
    },
    announceStop() {
      isAnnounced = true;
    },
    handle: (request, response) => current.handle(request, response),
    exchange(next) {
      const before = current;
      current = next;
      retire(isStopping ? next : before);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

const MAX_RETIRING = 8; // replaced gateways that may finish their calls; above this the oldest is stopped
