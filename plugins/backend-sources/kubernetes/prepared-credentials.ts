import { createHash } from 'node:crypto';
import {
  type Authorizer,
  explainCause,
  GatewayFault,
  isObject,
  LATE,
  type Log,
  type SecretSource,
  type Slots,
  within,
} from '@toolmgr/core';
import type { DocumentBackend } from '@toolmgr/plugins/kit/kubernetes';
import type { SecretValues } from './read-secrets.ts';

/** A strategy in the form of a plan. */
export interface StrategyUse {
  readonly type: string;
  readonly options?: unknown;
}

/** Name of the strategy that delegates to the one of each backend. */
export const DISCOVERED = 'discovered';

/** The credentials of one backend. */
interface Prepared {
  readonly strategy: string;
  /** Changes with the strategy, its options and its headers, and with their secrets. */
  readonly fingerprint: string;
  /** The same without the values of secrets. */
  readonly identity: string;
  /** A fault when it could not be prepared: every request to the backend fails with it. */
  readonly authorizer: Authorizer | GatewayFault;
}

/** Time for one strategy to be prepared. */
const PREPARE_MS = 30_000;

/**
 * The authorizers of discovered backends. Each is prepared by the strategy that the document names, and again only when its
 * configuration or one of its secrets has changed. A strategy that cannot be prepared makes its backend unavailable.
 */
export class PreparedCredentials {
  readonly #slots: Pick<Slots, 'authStrategies'>;
  readonly #log: Log;
  #byBackend: ReadonlyMap<string, Prepared> = new Map();
  #values: SecretValues = new Map();

  constructor(slots: Pick<Slots, 'authStrategies'>, log: Log) {
    this.#slots = slots;
    this.#log = log;
  }

  /** Reads the secrets of the current document only. */
  readonly secrets: SecretSource = {
    read: async (name) => {
      const found = this.#values.get(name);
      if (found !== undefined && 'value' in found) return found.value;
      throw new GatewayFault('SECRET_MISSING', found?.missing ?? `the backends document names no secret ${name}`);
    },
  };

  /** Prepares the credentials of all backends. `byDefault`: for backends whose document entry has no strategy. */
  async take(backends: readonly DocumentBackend[], values: SecretValues, byDefault: StrategyUse): Promise<void> {
    this.#values = values;
    const prepared = backends.map(async (backend): Promise<[string, Prepared]> => {
      const use = useOf(backend, byDefault);
      const identity = hashOf(use);
      const fingerprint = hashOf([identity, ...namedIn(use, values)]);
      const before = this.#byBackend.get(backend.name);
      if (before?.fingerprint === fingerprint && !(before.authorizer instanceof GatewayFault)) {
        return [backend.name, before];
      }
      const strategy = (backend.auth ?? byDefault).type;
      return [backend.name, { strategy, fingerprint, identity, authorizer: await this.#prepare(backend.name, use) }];
    });
    this.#byBackend = new Map(await Promise.all(prepared));
  }

  /** Backends whose credentials could not be prepared. */
  get failed(): readonly string[] {
    return [...this.#byBackend].flatMap(([name, { authorizer }]) => (authorizer instanceof GatewayFault ? [name] : []));
  }

  /** For the description of a backend: changes when its sessions must be opened again. */
  identityOf(backend: string): string {
    const prepared = this.#byBackend.get(backend);
    if (prepared === undefined) return '';
    return prepared.authorizer instanceof GatewayFault ? `failed:${prepared.identity}` : prepared.identity;
  }

  /** The authorizer of a backend; each request uses the credentials of the last document. */
  forBackend(backend: string): ReturnType<NonNullable<Authorizer['forBackend']>> {
    const current = (): Authorizer => {
      const authorizer = this.#byBackend.get(backend)?.authorizer;
      if (authorizer !== undefined && !(authorizer instanceof GatewayFault)) return authorizer;
      throw authorizer ?? new GatewayFault('AUTH_STRATEGY_FAILED', `${backend} has no credentials any more`);
    };
    const { authorizer, strategy = DISCOVERED } = this.#byBackend.get(backend) ?? {};
    const known = authorizer instanceof GatewayFault ? undefined : authorizer;
    return {
      strategy,
      ...(known?.headerNames === undefined ? {} : { headerNames: known.headerNames }),
      perCaller: known?.perCaller === true,
      apply: (outbound, authContext) => current().apply(outbound, authContext),
      refused: (about, caller) => current().refused?.(about, caller) === true,
    };
  }

  async #prepare(backend: string, { type, options }: StrategyUse): Promise<Authorizer | GatewayFault> {
    const where = `credentials of ${backend}`;
    try {
      if (type === DISCOVERED) throw new GatewayFault('AUTH_STRATEGY_INVALID', `${where}: ${type} is no strategy`);
      const strategy = this.#slots.authStrategies.get(type);
      const authorizer = await within(PREPARE_MS, undefined, strategy.prepare(options, where));
      if (authorizer !== LATE) return authorizer;
      throw new GatewayFault('AUTH_STRATEGY_INVALID', `${where}: ${type} was not ready within ${PREPARE_MS} ms`);
    } catch (cause) {
      this.#log.error('credentials of a backend cannot be prepared; the backend is unavailable', {
        backend,
        cause: explainCause(cause),
      });
      return cause instanceof GatewayFault
        ? cause
        : new GatewayFault('AUTH_STRATEGY_INVALID', `${where}: ${type} could not be prepared`, { cause });
    }
  }
}

/** The strategy of a backend, with the headers of its entry after it. */
function useOf({ auth, headers = {}, secretHeaders = {} }: DocumentBackend, byDefault: StrategyUse): StrategyUse {
  const use = auth ?? byDefault;
  if (Object.keys(headers).length + Object.keys(secretHeaders).length === 0) return use;
  return { type: 'forward_headers', options: { headers, headersEnv: secretHeaders, after: use } };
}

/** The values of the secrets that the options name, or why they are missing. */
function namedIn(use: unknown, values: SecretValues): readonly string[] {
  if (typeof use === 'string') {
    const found = values.get(use);
    if (found === undefined) return [];
    return 'value' in found ? [use, found.value] : [use, '', found.missing];
  }
  if (Array.isArray(use)) return use.flatMap((part) => namedIn(part, values));
  return isObject(use) ? Object.values(use).flatMap((part) => namedIn(part, values)) : [];
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
