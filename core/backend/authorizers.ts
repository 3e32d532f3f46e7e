import type { Authorizer, AuthStrategy } from '../contract/auth-strategy.ts';
import { faultFrom, GatewayFault } from '../errors.ts';
import type { Slots } from '../extension/slots.ts';
import { isPromise } from '../timing/is-promise.ts';

/** The authorizers of all backends, prepared once. */
export interface Authorizers {
  /** Called once per description of a backend. */
  of(backend: string): Authorizer;
  /** Name of the strategy in use towards a backend. */
  strategyOf(backend: string): string;
  /** Whether some credentials depend on the caller. */
  readonly perCaller: boolean;
}

/** The authorizer of one backend. A gateway that takes the backend over sets its own. */
export interface BackendCredentials {
  authorizer: Authorizer;
}

/** The strategy of each backend. */
export interface AuthorizerPlan {
  readonly outgoingAuth: { readonly default: StrategyUse; readonly backends: Readonly<Record<string, StrategyUse>> };
  /** Headers of clients that are sent to every backend. */
  readonly passthroughHeaders: readonly string[];
}

interface StrategyUse {
  /** Name in the slot `authStrategies`. */
  readonly type: string;
  readonly options?: unknown;
}

/** Gets the fault of a strategy that could not be prepared: throws it, or returns what replaces the strategy. */
export type WhenUnprepared = (cause: unknown) => Authorizer;

/**
 * Prepares the strategies that the plan names; a backend without an entry of its own gets the default.
 * @throws GatewayFault SLOT_UNKNOWN, AUTH_STRATEGY_INVALID, SECRET_MISSING, and PLAN_INVALID when a passthrough
 * header would collide with one that a strategy sets
 */
export async function prepareAuthorizers(
  plan: AuthorizerPlan,
  slots: Slots,
  whenUnprepared: WhenUnprepared = rethrow,
): Promise<Authorizers> {
  const prepared = new Map<string, Authorizer>();
  const prepare = async (where: string, use: StrategyUse): Promise<Authorizer> => {
    const strategy = slots.authStrategies.get(use.type);
    const authorizer = await preparedBy(strategy, use.options, where).catch(whenUnprepared);
    checkHeaders(where, authorizer, plan.passthroughHeaders);
    return guarded(where, authorizer);
  };
  const fallback = await prepare('outgoingAuth.default', plan.outgoingAuth.default);
  for (const [backend, use] of Object.entries(plan.outgoingAuth.backends)) {
    prepared.set(backend, await prepare(`outgoingAuth.backends.${backend}`, use));
  }
  const delegated = (backend: string): Authorizer | undefined => {
    const found = fallback.forBackend?.(backend);
    return found && guarded(`outgoingAuth of ${backend}`, unlessColliding(backend, found, plan.passthroughHeaders));
  };
  const { default: byDefault, backends } = plan.outgoingAuth;
  return {
    of: (backend) => prepared.get(backend) ?? delegated(backend) ?? fallback,
    strategyOf: (backend) =>
      Object.hasOwn(backends, backend)
        ? (backends[backend]?.type ?? '')
        : (fallback.forBackend?.(backend).strategy ?? byDefault.type),
    perCaller: [fallback, ...prepared.values()].some((authorizer) => authorizer.perCaller === true),
  };
}

/** An error of a plugin gets the place of the strategy; a fault has it already. */
async function preparedBy(strategy: AuthStrategy, options: unknown, where: string): Promise<Authorizer> {
  try {
    return await strategy.prepare(options, where);
  } catch (cause) {
    throw faultFrom(cause, 'AUTH_STRATEGY_INVALID', `${where} could not be prepared`);
  }
}

function rethrow(cause: unknown): never {
  throw cause;
}

function checkHeaders(where: string, { headerNames }: Authorizer, passthrough: readonly string[]): void {
  const lower = new Set(passthrough.map((name) => name.toLowerCase()));
  const clash = headerNames?.find((name) => lower.has(name));
  if (clash === undefined) return;
  throw new GatewayFault(
    'PLAN_INVALID',
    `passthroughHeaders: ${clash} is set by ${where} and cannot be passed through`,
  );
}

/** A backend that is known only later cannot stop the start: its requests fail instead. */
function unlessColliding(backend: string, authorizer: Authorizer, passthrough: readonly string[]): Authorizer {
  try {
    checkHeaders(`outgoingAuth of ${backend}`, authorizer, passthrough);
    return authorizer;
  } catch (cause) {
    return {
      apply() {
        throw cause;
      },
    };
  }
}

/** Errors name the place of the strategy, never its secrets; a synchronous authorizer stays synchronous. */
function guarded(where: string, authorizer: Authorizer): Authorizer {
  const forBackend = authorizer.forBackend?.bind(authorizer);
  const forbidden = authorizer.forbidden?.bind(authorizer);
  const fail = (cause: unknown): never => {
    throw faultFrom(cause, 'AUTH_STRATEGY_FAILED', `${where} could not authorize the request`);
  };
  return {
    ...(authorizer.headerNames === undefined ? {} : { headerNames: authorizer.headerNames }),
    ...(authorizer.perCaller === undefined ? {} : { perCaller: authorizer.perCaller }),
    ...(forBackend === undefined ? {} : { forBackend }),
    ...(forbidden === undefined ? {} : { forbidden }),
    refused: (backend, caller) => authorizer.refused?.(backend, caller) === true,
    apply(outbound, authContext) {
      try {
        const applied = authorizer.apply(outbound, authContext);
        return isPromise(applied) ? applied.then(undefined, fail) : applied;
      } catch (cause) {
        return fail(cause);
      }
    },
  };
}
