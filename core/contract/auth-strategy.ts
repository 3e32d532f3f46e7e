import type { Errand, Outbound } from './backend.ts';

/** Slot `authStrategies`: one way to authenticate towards backends. */
export interface AuthStrategy {
  /**
   * Checks `options` and makes the authorizer of one backend.
   * @throws GatewayFault AUTH_STRATEGY_INVALID naming the option that is wrong
   */
  prepare(options: unknown, where: string): Promise<Authorizer>;
}

/** Adds credentials to one outbound request. Synchronous where nothing is waited for. */
export interface Authorizer {
  apply(outbound: Outbound, errand: Errand): void | Promise<void>;
  /** Header names this authorizer sets, lower case; passthrough headers must not collide. */
  readonly headerNames?: readonly string[];
}
