import type { AuthContext, Backend, BackendRequest } from './backend.ts';
import type { Caller } from './caller.ts';

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
  apply(outbound: BackendRequest, authContext: AuthContext): void | Promise<void>;
  /** Header names this authorizer sets, lower case; passthrough headers must not collide. */
  readonly headerNames?: readonly string[];
  /**
   * The credentials depend on the caller. A backend that refuses the gateway's own request for its lists is then asked
   * for them once per caller, with the caller's.
   */
  readonly perCaller?: boolean;
  /**
   * The backend answered 401 to what `apply` added for this caller (the gateway itself among them). `true` when the next
   * `apply` adds something else: the request, which did not run, is then sent once more.
   */
  refused?(backend: Backend, caller: Caller): boolean;
}
