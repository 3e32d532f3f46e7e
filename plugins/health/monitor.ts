import {
  type BackendChanged,
  type BackendSignal,
  type BackendState,
  type CallRecord,
  type Core,
  classifySignal,
  classifyState,
  GatewayFault,
  type HealthStatus,
} from '@toolmgr/core';
import type { HealthConfig } from './config.ts';
import type { Failure } from './health-record.ts';
import { createRounds, type Rounds } from './rounds.ts';
import { Watch, type WatchRules } from './watch.ts';

const SLOW_MS = 5_000; // an answer to a probe that takes longer makes a backend degraded
const PROBES_AT_ONCE = 64; // over all backends; the others wait their turn
const HURRY_MS = 1_000; // least time between two probes of one backend, whatever its calls say

/** Watches the backends: gathers evidence from probes, calls and connections, and tells the core what it makes of it. */
export class Monitor {
  readonly #core: Core;
  readonly #intervalMs: number;
  readonly #timeoutMs: number;
  readonly #rules: WatchRules;
  readonly #watches = new Map<string, Watch>();
  /** Those whose breaker is not closed: empty as a rule, so that asking costs a call nothing. */
  readonly #broken = new Set<string>();
  readonly #rounds: Rounds;
  #spread = 0;

  constructor(core: Core, config: HealthConfig) {
    const { enabled, failureThreshold, timeout: timeoutMs } = config.circuitBreaker;
    this.#core = core;
    this.#intervalMs = config.healthCheckInterval;
    this.#timeoutMs = config.healthCheckTimeout;
    this.#rules = {
      threshold: config.unhealthyThreshold,
      breaker: enabled ? { failureThreshold, timeoutMs } : undefined,
    };
    const probe = (name: string, signal: AbortSignal): Promise<number> => this.#probe(name, signal);
    this.#rounds = createRounds({ places: PROBES_AT_ONCE, now: core.now, probe });
  }

  /** What the connections show: the first look at a backend is its first check, and a return is noticed at once. */
  backendChanged({ name, change, state }: BackendChanged): void {
    if (change === 'removed' || state === undefined) return this.#forget(name);
    const watch = this.#watchFor(name, state);
    watch.isThere = state.status === 'ready' || state.status === 'unauthenticated';
    if (change !== 'status') return;
    // A probe that looks for the backend tells what it found itself; a breaker waits for its trial.
    if (watch.isProbing || watch.isBroken) return;
    const sign = classifyState(state);
    if (sign.is === 'failed') return this.#suspected(watch, sign.category);
    this.#take(watch, sign, false);
    watch.checkedMs = this.#core.now();
    this.#publish(watch);
  }

  /** What calls show. A tool's own failure, a JSON-RPC error and a refused caller are answers. */
  callSettled({ call, cause, outcome }: CallRecord): void {
    const watch = this.#watches.get(call.target.backend);
    if (watch === undefined || watch.isBroken || NO_EVIDENCE.has(outcome)) return;
    const sign = cause === undefined ? ALIVE : classifySignal(cause);
    if (sign.is === 'failed') {
      // What is known to be away refuses calls without being asked.
      if (watch.isThere && watch.record.status !== 'unhealthy') this.#suspected(watch, sign.category);
      return;
    }
    if (sign.is !== 'alive' || watch.isSettled) return;
    // How long a call takes is the tool's affair: it does not end what a slow probe began.
    const staysSlow = watch.record.status === 'degraded' && watch.record.failures === 0;
    this.#take(watch, sign, staysSlow);
    this.#publish(watch);
  }

  /** Why a call must not be sent now; `undefined` as long as the breaker is closed. */
  refusal(backend: string): GatewayFault | undefined {
    if (this.#broken.size === 0 || !this.#broken.has(backend)) return undefined;
    const { breaker } = this.#watches.get(backend) ?? {};
    const waitMs = Math.max(0, (breaker?.triesAtMs ?? 0) - this.#core.now());
    const why =
      breaker?.state === 'half-open'
        ? 'its circuit breaker is half-open, a probe is testing recovery'
        : `its circuit breaker is open, recovery is tested in ${Math.ceil(waitMs / 1000)} s`;
    return new GatewayFault('BACKEND_CIRCUIT_OPEN', `backend "${backend}" gets no call: ${why}`);
  }

  /** How many backends are in which state. */
  summary(): Record<HealthStatus | 'total', number> {
    const counts = { total: 0, healthy: 0, degraded: 0, unhealthy: 0, unknown: 0, unauthenticated: 0 };
    for (const { record } of this.#watches.values()) {
      counts.total++;
      counts[record.status]++;
    }
    return counts;
  }

  /** Ends probes at once, and all to come. */
  stop(): void {
    this.#rounds.stop();
  }

  /**
   * The watch of a backend, begun anew for one with another description. One that was handed over by a gateway before
   * this one, with its connections, brings what was known of it. Turns are spread over the interval.
   */
  #watchFor(name: string, { backend, health }: BackendState): Watch {
    const known = this.#watches.get(name);
    if (known?.backend === backend) return known;
    const handedOver = known === undefined && health?.status !== 'unhealthy' ? health : undefined;
    const watch = new Watch(name, backend, this.#rules, this.#core.now(), handedOver);
    this.#watches.set(name, watch);
    this.#broken.delete(name);
    if (known !== undefined) return watch;
    this.#spread = (this.#spread + GOLDEN) % 1;
    this.#rounds.add(name, this.#core.now() + this.#spread * this.#intervalMs);
    return watch;
  }

  #forget(name: string): void {
    this.#rounds.delete(name);
    this.#broken.delete(name);
    this.#watches.delete(name);
  }

  /** One turn; resolves with the time of the next. */
  async #probe(name: string, signal: AbortSignal): Promise<number> {
    const watch = this.#watches.get(name);
    if (watch === undefined) return Number.POSITIVE_INFINITY;
    if (watch.breaker?.letsThrough(this.#core.now()) === false) return this.#nextTurn(watch);
    watch.isProbing = true;
    if (watch.isBroken) this.#publish(watch); // half-open
    const { sign, isSlow } = await this.#asked(name, signal);
    watch.isProbing = false;
    if (signal.aborted || this.#watches.get(name) !== watch) return this.#core.now() + this.#intervalMs;
    this.#take(watch, sign, isSlow);
    watch.checked(this.#core.now());
    this.#publish(watch);
    return this.#nextTurn(watch);
  }

  /** A breaker is tried as soon as it may be; a trial that showed nothing waits like any other. */
  #nextTurn({ breaker, isBroken }: Watch): number {
    const nowMs = this.#core.now();
    const triesAtMs = isBroken ? (breaker?.triesAtMs ?? 0) : 0;
    return triesAtMs > nowMs ? triesAtMs : nowMs + this.#intervalMs;
  }

  async #asked(name: string, signal: AbortSignal): Promise<{ readonly sign: BackendSignal; readonly isSlow: boolean }> {
    try {
      const tookMs = await this.#core.backends.probe(name, this.#timeoutMs, signal);
      return { sign: ALIVE, isSlow: tookMs > SLOW_MS };
    } catch (cause) {
      return { sign: classifySignal(cause), isSlow: false };
    }
  }

  /** Takes the evidence of a probe or of a look. */
  #take(watch: Watch, sign: BackendSignal, isSlow: boolean): void {
    const before = watch.record.status;
    const nowMs = this.#core.now();
    if (sign.is === 'alive') watch.succeeded(isSlow, nowMs);
    else if (sign.is === 'failed') watch.failed({ category: sign.category, isAuth: false }, nowMs);
    else if (sign.is === 'unauthenticated') {
      // Where callers bring the credentials, a refusal of the gateway, which has none, shows that somebody is there.
      if (this.#core.backends.strategyOf(watch.name) !== 'unauthenticated') watch.succeeded(false, nowMs);
      else watch.failed({ category: sign.category, isAuth: true }, nowMs);
    }
    this.#noteChange(watch, before);
  }

  /** A failure outside probes counts, and brings the probe forward that shows what it meant. */
  #suspected(watch: Watch, category: string): void {
    const before = watch.record;
    const nowMs = this.#core.now();
    const failure: Failure = { category, isAuth: false };
    watch.suspected(failure, nowMs);
    if (watch.isBroken) this.#rounds.put(watch.name, watch.breaker?.triesAtMs ?? nowMs);
    else this.#rounds.hurry(watch.name, Math.max(nowMs, (watch.checkedMs ?? 0) + Math.min(HURRY_MS, this.#intervalMs)));
    if (watch.record === before) return;
    this.#noteChange(watch, before.status);
    this.#publish(watch);
  }

  #noteChange({ name, record: { status, category } }: Watch, before: HealthStatus): void {
    if (status === before) return;
    const fields = { backend: name, from: before, to: status, ...(category === undefined ? {} : { category }) };
    if (status === 'unhealthy' || status === 'unauthenticated') this.#core.log.warn('backend health changed', fields);
    else this.#core.log.info('backend health changed', fields);
  }

  #publish(watch: Watch): void {
    const { name, isBroken } = watch;
    if (isBroken !== this.#broken.has(name)) {
      if (isBroken) this.#broken.add(name);
      else this.#broken.delete(name);
      if (isBroken) this.#core.log.warn('circuit breaker opened', { backend: name });
      else this.#core.log.info('circuit breaker closed', { backend: name });
    }
    this.#core.backends.setHealth(name, watch.health());
  }
}

/** Turns at multiples of it, modulo one, are spread evenly however many there are. */
const GOLDEN = 0.618_033_988_749_895;

const ALIVE: BackendSignal = { is: 'alive' };

/** Ends of calls that say nothing about a backend. */
const NO_EVIDENCE: ReadonlySet<CallRecord['outcome']> = new Set(['refused', 'cancelled', 'abandoned']);
