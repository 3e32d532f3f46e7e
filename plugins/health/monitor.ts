import {
  type BackendChanged,
  type BackendHealth,
  type BackendState,
  type CallRecord,
  type Core,
  classifySignal,
  classifyState,
  GatewayFault,
  shareOfCall,
} from '@toolmgr/core';
import { Watch, type WatchRules } from './backend-watch.ts';
import type { HealthConfig } from './config.ts';
import type { HealthRecord } from './health-record.ts';
import { createProbeSchedule, type ProbeSchedule } from './probe-schedule.ts';

const SLOW_MS = 5_000; // a slower response to a probe makes a backend degraded
const MAX_PARALLEL_PROBES = 64; // over all backends; others wait
const MIN_PROBE_GAP_MS = 1_000; // minimum time between two probes of one backend

/** Collects signals from probes, calls and connections, and publishes the health of each backend. */
export class Monitor {
  readonly #core: Core;
  readonly #intervalMs: number;
  readonly #timeoutMs: number;
  readonly #rules: WatchRules;
  readonly #watches = new Map<string, Watch>();
  /** Backends with a breaker that is not closed; usually empty, so that the check is fast. */
  readonly #broken = new Set<string>();
  readonly #schedule: ProbeSchedule;
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
    this.#schedule = createProbeSchedule({ concurrency: MAX_PARALLEL_PROBES, now: core.now, probe });
  }

  /** Handles connection changes: connecting is the first check, and a reconnect is noticed at once. */
  backendChanged({ name, change, state }: BackendChanged): void {
    if (change === 'removed' || state === undefined) return this.#forget(name);
    const watch = this.#watchFor(name, state);
    watch.isConnected = state.status === 'ready' || state.status === 'unauthenticated';
    if (change !== 'status') return;
    // A running probe reports its own result; an open breaker waits for its probe.
    if (watch.isProbing || watch.isBroken) return;
    const sign = classifyState(state);
    if (sign.is === 'failed') return this.#connectionFailed(watch, sign.category);
    this.#applySignal(watch, sign, false);
    watch.checkedMs = this.#core.now();
    this.#publish(watch);
  }

  /** Handles ended calls. Tool errors, JSON-RPC errors and refused callers count as responses. */
  callSettled(record: CallRecord): void {
    const { call, cause, outcome, startedMs, durationMs } = record;
    const watch = this.#watches.get(call.target.backend);
    if (watch === undefined || watch.isBroken || NO_EVIDENCE.has(outcome)) return;
    const sign = cause === undefined ? ALIVE : classifySignal(cause);
    if (sign.is === 'failed') {
      // Calls to a disconnected backend fail without being sent.
      if (watch.isConnected && watch.record.status !== 'unhealthy') this.#callFailed(watch, record, sign.category);
      return;
    }
    if (sign.is !== 'alive') return;
    watch.answeredMs = startedMs + durationMs;
    if (watch.isSettled) return;
    // The duration of a call depends on the tool, so it does not end the degraded status of a slow probe.
    const staysSlow = watch.record.status === 'degraded' && watch.record.failures === 0;
    this.#applySignal(watch, sign, staysSlow);
    this.#publish(watch);
  }

  /** Why a call must not be sent; `undefined` while the breaker is closed. */
  refusal(backend: string): GatewayFault | undefined {
    if (this.#broken.size === 0 || !this.#broken.has(backend)) return undefined;
    const { breaker } = this.#watches.get(backend) ?? {};
    const waitMs = Math.max(0, (breaker?.triesAtMs ?? 0) - this.#core.now());
    const why =
      breaker?.state === 'half-open'
        ? 'its circuit breaker is half-open, a probe is testing recovery'
        : `its circuit breaker is open, recovery is tested in ${Math.ceil(waitMs / 1000)} s`;
    return new GatewayFault('BACKEND_CIRCUIT_OPEN', `backend "${backend}" gets no calls: ${why}`);
  }

  /** The number of backends per status. */
  summary(): Record<BackendHealth['status'] | 'total', number> {
    const counts = { total: 0, healthy: 0, degraded: 0, unhealthy: 0, unknown: 0, unauthenticated: 0 };
    for (const { record } of this.#watches.values()) {
      counts.total++;
      counts[record.status]++;
    }
    return counts;
  }

  /** Stops all probes. */
  stop(): void {
    this.#schedule.stop();
  }

  /**
   * The watch of a backend; a new one when its description changes. A backend that was handed over by an earlier gateway keeps
   * its health. Probes are spread over the interval.
   */
  #watchFor(name: string, { backend, health }: BackendState): Watch {
    const known = this.#watches.get(name);
    if (known?.backend === backend) return known;
    const handedOver = known === undefined && health?.status !== 'unhealthy' ? health : undefined;
    const watch = new Watch(name, backend, this.#rules, this.#core.now(), handedOver);
    this.#watches.set(name, watch);
    this.#broken.delete(name);
    if (known !== undefined) return watch;
    this.#spread = (this.#spread + GOLDEN_RATIO) % 1;
    this.#schedule.add(name, this.#core.now() + this.#spread * this.#intervalMs);
    return watch;
  }

  #forget(name: string): void {
    this.#schedule.delete(name);
    this.#broken.delete(name);
    this.#watches.delete(name);
  }

  /** Runs one probe; resolves with the time of the next. */
  async #probe(name: string, signal: AbortSignal): Promise<number> {
    const watch = this.#watches.get(name);
    if (watch === undefined) return Number.POSITIVE_INFINITY;
    if (watch.breaker?.allowsAttempt(this.#core.now()) === false) return this.#nextProbeMs(watch);
    watch.isProbing = true;
    if (watch.isBroken) this.#publish(watch); // half-open
    const { sign, isSlow } = await this.#runProbe(name, signal);
    watch.isProbing = false;
    if (signal.aborted || this.#watches.get(name) !== watch) return this.#core.now() + this.#intervalMs;
    this.#applySignal(watch, sign, isSlow);
    watch.checked(this.#core.now());
    this.#publish(watch);
    return this.#nextProbeMs(watch);
  }

  /** An open breaker is probed when its timeout ends; otherwise after the interval. */
  #nextProbeMs({ breaker, isBroken }: Watch): number {
    const nowMs = this.#core.now();
    const triesAtMs = isBroken ? (breaker?.triesAtMs ?? 0) : 0;
    return triesAtMs > nowMs ? triesAtMs : nowMs + this.#intervalMs;
  }

  async #runProbe(name: string, signal: AbortSignal): Promise<{ readonly sign: Sign; readonly isSlow: boolean }> {
    try {
      const tookMs = await this.#core.backends.probe(name, this.#timeoutMs, signal);
      return { sign: ALIVE, isSlow: tookMs > SLOW_MS };
    } catch (cause) {
      return { sign: classifySignal(cause), isSlow: false };
    }
  }

  /** Applies the signal of a probe or a connection. */
  #applySignal(watch: Watch, sign: Sign, isSlow: boolean): void {
    const before = watch.record.status;
    const nowMs = this.#core.now();
    if (sign.is === 'alive') watch.succeeded(isSlow, nowMs);
    else if (sign.is === 'failed') watch.failed({ category: sign.category, isAuth: false }, nowMs);
    else if (sign.is === 'unauthenticated') {
      // When callers bring the credentials, a refusal of the gateway shows that the backend responds.
      if (this.#core.backends.strategyOf(watch.name) !== 'unauthenticated') watch.succeeded(false, nowMs);
      else watch.failed({ category: sign.category, isAuth: true }, nowMs);
    }
    this.#noteChange(watch, before);
  }

  #connectionFailed(watch: Watch, category: string): void {
    const before = watch.record;
    watch.connectionFailed({ category, isAuth: false }, this.#core.now());
    this.#probeSoon(watch, before);
  }

  #callFailed(watch: Watch, { call, startedMs }: CallRecord, category: string): void {
    const before = watch.record;
    watch.callFailed({ category, isAuth: false }, shareOfCall(call), startedMs, this.#core.now());
    this.#probeSoon(watch, before);
  }

  /** A failure outside probes triggers a probe. */
  #probeSoon(watch: Watch, before: HealthRecord): void {
    const nowMs = this.#core.now();
    if (watch.isBroken) this.#schedule.reschedule(watch.name, watch.breaker?.triesAtMs ?? nowMs);
    else
      this.#schedule.bringForward(
        watch.name,
        Math.max(nowMs, (watch.checkedMs ?? 0) + Math.min(MIN_PROBE_GAP_MS, this.#intervalMs)),
      );
    if (watch.record === before) return;
    this.#noteChange(watch, before.status);
    this.#publish(watch);
  }

  #noteChange({ name, record: { status, category } }: Watch, before: BackendHealth['status']): void {
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

/** Multiples of it, modulo one, are evenly spread for any number of backends. */
const GOLDEN_RATIO = 0.618_033_988_749_895;

type Sign = ReturnType<typeof classifySignal>;

const ALIVE: Sign = { is: 'alive' };

/** Outcomes of calls without information about a backend. */
const NO_EVIDENCE: ReadonlySet<CallRecord['outcome']> = new Set(['refused', 'cancelled', 'abandoned']);
