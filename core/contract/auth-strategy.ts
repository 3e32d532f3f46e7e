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

/** Adds credentials to one request to a backend. Synchronous when nothing has to be awaited. */
export interface Authorizer {
  apply(outbound: BackendRequest, authContext: AuthContext): void | Promise<void>;
  /** Header names this authorizer sets, lower case; passthrough headers must not collide. */
  readonly headerNames?: readonly string[];
  /**
   * The credentials depend on the caller. When a backend refuses the gateway's own list request, the gateway requests
   * the lists once per caller, with that caller's credentials.
   */
  readonly perCaller?: boolean;
  /**
   * For a strategy that delegates to another one for each backend: called once per description of a backend, and instead of
   * `apply` of this authorizer, whose `perCaller` says whether any backend may depend on the caller.
   */
  forBackend?(backend: string): BackendAuthorizer;
  /**
   * Called after the backend answered 401 to the credentials that `apply` added for this caller (or for the gateway
   * itself). Returns `true` when the next `apply` adds other credentials: the request is then sent once more.
   */
  refused?(backend: Backend, caller: Caller): boolean;
  /**
   * Called after the backend answered 403 with this `WWW-Authenticate`, e.g. `insufficient_scope` (RFC 6750 §3.1). Resolves
   * with what the user has to do, for the error of the call; `undefined` when nothing would help.
   */
  forbidden?(backend: Backend, challenge: string): Promise<string | undefined>;
}

/** The authorizer of one backend, with the name of its strategy. */
export interface BackendAuthorizer extends Authorizer {
  readonly strategy: string;
}
