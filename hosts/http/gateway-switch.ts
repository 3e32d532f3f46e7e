import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Gateway } from '@toolmgr/core';

/** One door behind which the gateway can be exchanged. */
export interface GatewaySwitch extends AsyncDisposable {
  readonly current: Gateway;
  handle(request: IncomingMessage, response: ServerResponse): void;
  /**
   * New requests go to `next` from now on. The one before finishes its calls in the background: a call ends with the
   * plugins it began with. Its client sessions end; clients open new ones, as MCP tells them to.
   */
  exchange(next: Gateway): void;
  /** Stops the current gateway and waits for those before it. */
  stop(): Promise<void>;
}

/** Makes a door in front of a gateway. `onFailure` hears of a gateway that could not be stopped in order. */
export function createSwitch(first: Gateway, onFailure: (cause: unknown) => void = () => {}): GatewaySwitch {
  let current = first;
  const leaving = new Set<Promise<void>>();
  const retire = (gateway: Gateway): void => {
    const left = gateway.stop().catch(onFailure);
    leaving.add(left);
    void left.then(() => leaving.delete(left));
  };
  const stop = async (): Promise<void> => {
    retire(current);
    await Promise.all(leaving);
  };
  return {
    get current() {
      return current;
    },
    handle: (request, response) => current.handle(request, response),
    exchange(next) {
      const before = current;
      current = next;
      retire(before);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
