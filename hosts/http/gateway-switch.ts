import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Gateway } from '@toolmgr/core';

/** One door behind which the gateway can be exchanged. */
export interface GatewaySwitch extends AsyncDisposable {
  readonly current: Gateway;
  /** `stop` was called: nobody should send more requests. */
  readonly isStopping: boolean;
  handle(request: IncomingMessage, response: ServerResponse): void;
  /**
   * New requests go to `next` from now on. The one before finishes its calls in the background, however long they take:
   * a call ends with the plugins it began with. Client sessions go on when `next` was made as its successor; otherwise
   * they end, and clients open new ones, as MCP tells them to.
   */
  exchange(next: Gateway): void;
  /** Stops the current gateway and those before it; each has its `limits.stopMs` for calls. */
  stop(): Promise<void>;
}

/** A gateway that still has calls to finish. */
interface Leaving {
  readonly left: Promise<void>;
  /** Its time is up: what runs has `limits.stopMs` now. */
  hurry(): void;
}

/** Makes a door in front of a gateway. `onFailure` hears of a gateway that could not be stopped in order. */
export function createSwitch(first: Gateway, onFailure: (cause: unknown) => void = () => {}): GatewaySwitch {
  let current = first;
  let isStopping = false;
  const leaving = new Set<Leaving>();
  const retire = (gateway: Gateway): void => {
    const { promise: hurried, resolve: hurry } = Promise.withResolvers<void>();
    const left = Promise.race([gateway.drained(), hurried])
      .then(() => gateway.stop())
      .catch(onFailure);
    const one: Leaving = { left, hurry };
    leaving.add(one);
    void left.then(() => leaving.delete(one));
    if (isStopping) return hurry();
    if (leaving.size > MAX_LEAVING) [...leaving][0]?.hurry();
  };
  const stop = async (): Promise<void> => {
    if (!isStopping) {
      isStopping = true;
      retire(current);
      for (const one of leaving) one.hurry();
    }
    await Promise.all([...leaving].map(({ left }) => left));
  };
  return {
    get current() {
      return current;
    },
    get isStopping() {
      return isStopping;
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

const MAX_LEAVING = 8; // gateways that finish calls behind the current one; the oldest has to hurry when there are more
