import type { Backend, BackendHello } from '../../contract/backend.ts';
import type { Era } from '../../contract/era.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { StdioLauncher } from '../../contract/stdio-launcher.ts';
import type { Log } from '../../extension/plugin.ts';
import type { HttpClientFactory } from '../../http1/http-client.ts';
import { isObject } from '../../json/json-value.ts';
import type { Limits } from '../../limits.ts';
import { partsFromValue } from '../../mcp/backend-message.ts';
import { BackendError } from '../../mcp/errors.ts';
import { isLegacyVersion, LEGACY_VERSIONS } from '../../mcp/versions.ts';
import type { BackendCredentials } from '../authorizers.ts';
import { categoryOf, LinkFailure } from '../failure.ts';
import { type EraAnswer, probe, probePatiently } from '../negotiate-era.ts';
import { HttpTarget } from '../transports/http-target.ts';
import type { Spawn } from '../transports/process-group.ts';
import { SseWire } from '../transports/sse.ts';
import { StdioWire } from '../transports/stdio.ts';
import { StreamableHttpWire } from '../transports/streamable-http.ts';
import type { OutgoingRequest, SessionEvents, SessionFor, Transport, TransportSink } from './backend-session.ts';
import { installTurnOf } from './first-start.ts';
import { JsonRpcConnection, resultValue } from './json-rpc-connection.ts';

/** Supported revisions that start with `initialize`; the first one is requested. */

/** A program that answered before and is slow now gets this many times `limits.helloMs`. */
const MAX_PATIENCE = 6;

/**
 * A legacy era is detected again after a day, because nothing fails when the server starts to support the newer one.
 */
const VERDICT_MS = 86_400_000;

/** What connections to one backend are made with. */
export interface ConnectorOptions {
  readonly backend: Backend;
  readonly credentials: BackendCredentials;
  readonly clientInfo: JsonObject;
  readonly limits: Limits;
  readonly log: Log;
  readonly spawn: Spawn | undefined;
  /** An entry of the slot `stdioLaunchers`. */
  readonly launcher: ((name: string) => StdioLauncher) | undefined;
  readonly httpClient: HttpClientFactory | undefined;
  readonly tally: { processes: number };
  now(): number;
}

/** Who a connection is opened for. */
export interface ConnectFor extends SessionFor {
  readonly purpose: 'discovery' | 'session';
  /** Capabilities declared to the backend. */
  readonly capabilities: JsonObject;
  readonly events: SessionEvents;
  readonly signal: AbortSignal;
  /** Opens in this era regardless of the detected one; the result says nothing about the backend's era. */
  readonly era?: '2025-11-25';
}

/** Opens connections to one backend and remembers its era. */
export class Connector {
  readonly #options: ConnectorOptions;
  #verdict: Era | undefined;
  #verdictAtMs = 0;
  #target: HttpTarget | undefined;
  #skipProbe = false;
  #patience = 1;
  /** The first start of a program may install it. */
  #hasAnswered = false;
  #startedMs = 0;

  constructor(options: ConnectorOptions) {
    this.#options = options;
    this.#verdict = settledEra(options.backend);
  }

  /** The configured or detected era; `undefined` until the backend has answered. */
  get era(): Era | undefined {
    return this.#verdict;
  }

  /** Something contradicts the detected era: the next connection detects it again. */
  forget(): void {
    this.#verdict = settledEra(this.#options.backend);
  }

  /**
   * Opens one connection and negotiates its era.
   * @throws GatewayFault BACKEND_* or AUTH_STRATEGY_FAILED; then everything is closed again
   */
  async open(who: ConnectFor): Promise<JsonRpcConnection> {
    const { backend, limits, log } = this.#options;
    const endTurn = this.#isFirstStart ? await installTurnOf(backend, limits.firstStartMs, log, who.signal) : undefined;
    try {
      const talk = await this.#open(who);
      this.#hasAnswered = true;
      return talk;
    } finally {
      await endTurn?.();
    }
  }

  /** The backend is down: its pooled connections are dropped. */
  letGo(): void {
    this.#target?.letGo();
  }

  async close(): Promise<void> {
    await this.#target?.close();
    this.#target = undefined;
  }

  get #isFirstStart(): boolean {
    return this.#options.backend.transport === 'stdio' && !this.#hasAnswered;
  }

  async #open(who: ConnectFor): Promise<JsonRpcConnection> {
    this.#startedMs = performance.now();
    const started = await this.#start(who);
    try {
      const verdict = await this.#ask(started.talk, who);
      if (verdict.is === 'modern') return this.#openModern(started, verdict.hello);
      return await this.#openLegacy(started, verdict, who);
    } catch (cause) {
      // A started program or stream must not outlive a failed negotiation.
      await started.talk.close().catch(() => undefined);
      throw cause;
    }
  }

  #openModern({ talk, open }: Started, hello: BackendHello): JsonRpcConnection {
    this.#remember('2026-07-28');
    talk.agree('2026-07-28', hello);
    open();
    return talk;
  }

  #remember(era: Era): void {
    this.#verdict = era;
    this.#verdictAtMs = this.#options.now();
  }

  async #ask(talk: JsonRpcConnection, who: ConnectFor): Promise<EraAnswer> {
    const { backend } = this.#options;
    if (who.era === '2025-11-25') return { is: 'legacy' };
    const mayChange = backend.transport === 'streamable-http' && backend.era !== 'legacy';
    const isOld = mayChange && this.#options.now() - this.#verdictAtMs > VERDICT_MS;
    if ((this.#verdict === '2025-11-25' && !isOld) || this.#skipProbe) return { is: 'legacy' };
    const { helloMs, firstStartMs } = this.#options.limits;
    const silentMs = Math.min(helloMs, firstStartMs / 2);
    let verdict = await (this.#isFirstStart
      ? probePatiently(talk, this.#hello(who), silentMs)
      : probe(talk, this.#hello(who)));
    if (backend.era === 'modern' && verdict.is === 'silent' && verdict.late !== undefined) verdict = await verdict.late;
    if (backend.era === 'modern' && verdict.is !== 'modern') {
      const facts = { category: 'protocol' } as const;
      throw new LinkFailure('BACKEND_PROTOCOL', backend.name, 'has `era: modern` and does not support it', facts);
    }
    return verdict;
  }

  async #openLegacy(first: Started, verdict: EraAnswer, who: ConnectFor): Promise<JsonRpcConnection> {
    const started = first.talk.alive ? first : await this.#start(who);
    const { talk, wire } = started;
    try {
      const late = verdict.is === 'silent' && started === first ? verdict.late : undefined;
      const shown = await this.#initializeOr(late, talk, who);
      if (shown.is === 'modern') return this.#openModern(started, shown.hello);
      talk.agree('2025-11-25', shown.hello);
      await talk.notify('notifications/initialized');
    } catch (cause) {
      if (who.era !== undefined) {
        await talk.close().catch(() => undefined);
        throw cause;
      }
      const silent = cause instanceof LinkFailure && cause.code === 'BACKEND_TIMEOUT';
      // It may have been legacy before: a refused initialize contradicts that.
      if (cause instanceof BackendError || categoryOf(cause) === 'http') this.forget();
      if (silent) this.#patience = Math.min(this.#patience + 1, MAX_PATIENCE);
      // No response for the second time: the probe may have broken it. The next connection starts with initialize.
      this.#skipProbe = silent && verdict.is === 'silent';
      await talk.close().catch(() => undefined);
      throw cause;
    }
    this.#patience = 1;
    if (who.era === undefined) this.#learn(verdict);
    started.open();
    if (wire instanceof StreamableHttpWire) wire.openChannel();
    return talk;
  }

  #learn(verdict: EraAnswer): void {
    this.#skipProbe = false;
    const proven = verdict.is === 'legacy' || (verdict.is === 'silent' && this.#options.backend.transport === 'stdio');
    if (proven) this.#remember('2025-11-25');
  }

  /** Initializes, unless the pending probe is answered in the modern way first. */
  async #initializeOr(late: Promise<EraAnswer> | undefined, talk: JsonRpcConnection, who: ConnectFor): Promise<Shown> {
    if (late === undefined) return { is: 'legacy', hello: await this.#initialize(talk, who) };
    const over = new AbortController();
    const signal = AbortSignal.any([who.signal, over.signal]);
    const legacy = this.#initialize(talk, { ...who, caller: who.caller, signal }).then(
      (hello): Shown => ({ is: 'legacy', hello }),
      async (cause: unknown): Promise<Shown> => {
        // A modern server refuses to initialize; its response to the probe has arrived or arrives now.
        const verdict = cause instanceof BackendError ? await late : undefined;
        if (verdict?.is === 'modern') return verdict;
        throw cause;
      },
    );
    const modern = late.then((verdict) => (verdict.is === 'modern' ? verdict : legacy));
    try {
      return await Promise.race([legacy, modern]);
    } finally {
      over.abort();
      modern.catch(() => {});
    }
  }

  async #initialize(talk: JsonRpcConnection, who: ConnectFor): Promise<BackendHello> {
    const { backend, clientInfo } = this.#options;
    const params = { protocolVersion: LEGACY_VERSIONS[0], capabilities: who.capabilities, clientInfo };
    const asked = { ...this.#hello(who), method: 'initialize', params: partsFromValue(params) };
    const result = resultValue(await talk.request({ ...asked, era: '2025-11-25' }));
    const version = result.protocolVersion;
    if (!isLegacyVersion(version)) {
      const facts = { category: 'protocol' } as const;
      throw new LinkFailure('BACKEND_PROTOCOL', backend.name, 'supports no MCP revision of this gateway', facts);
    }
    return {
      info: isObject(result.serverInfo) ? result.serverInfo : {},
      capabilities: isObject(result.capabilities) ? result.capabilities : {},
      instructions: typeof result.instructions === 'string' ? result.instructions : undefined,
      protocolVersion: String(version),
    };
  }

  #hello(who: ConnectFor): Omit<OutgoingRequest, 'method' | 'params' | 'era'> {
    const { limits, backend } = this.#options;
    const isProgram = backend.transport === 'stdio';
    const leftMs = Math.max(1, Math.ceil(this.#startedMs + limits.firstStartMs - performance.now()));
    const timeoutMs = this.#isFirstStart ? leftMs : limits.helloMs * (isProgram ? this.#patience : 1);
    return {
      caller: who.caller,
      purpose: who.purpose,
      capabilities: who.capabilities,
      timeoutMs,
      totalMs: timeoutMs,
      signal: who.signal,
    };
  }

  async #start(who: ConnectFor): Promise<Started> {
    const { backend, clientInfo, limits, log, now } = this.#options;
    let opened = false;
    const events: SessionEvents = Object.create(who.events, {
      // A connection that ends during negotiation is a failed attempt, not a lost connection.
      lost: { value: (cause: LinkFailure) => (opened ? who.events.lost(cause) : undefined) },
    });
    let wire: Transport | undefined;
    const about = { backend: backend.name, caller: who.caller, clientInfo, limits, log, events, now };
    const talk = new JsonRpcConnection(about, (sink) => {
      wire = this.#wire(sink, who);
      return wire;
    });
    if (wire instanceof SseWire) await opening(wire, talk, who.signal);
    const open = () => {
      opened = true;
    };
    return { talk, wire, open };
  }

  #wire(sink: TransportSink, who: SessionFor): Transport {
    const { backend, limits, log, spawn, tally, credentials, httpClient } = this.#options;
    if (backend.transport === 'stdio') {
      const name = backend.command?.launcher;
      const launcher = name === undefined ? undefined : this.#options.launcher?.(name);
      return new StdioWire({ backend, limits, log, tally, spawn, launcher }, sink);
    }
    this.#target ??= new HttpTarget(backend, credentials, httpClient);
    if (backend.transport === 'sse') return new SseWire(this.#target, sink, limits, who, log);
    return new StreamableHttpWire(this.#target, sink, limits, who);
  }
}

/** Result of the negotiation. */
interface Shown {
  readonly is: 'legacy' | 'modern';
  readonly hello: BackendHello;
}

interface Started {
  readonly talk: JsonRpcConnection;
  readonly wire: Transport | undefined;
  /** From now on the end of the connection is reported. */
  open(): void;
}

async function opening(wire: SseWire, talk: JsonRpcConnection, signal: AbortSignal): Promise<void> {
  try {
    await wire.open(signal);
  } catch (cause) {
    await talk.close();
    throw cause;
  }
}

/** The era that needs no probe: configured, or implied by the transport. */
function settledEra(backend: Backend): Era | undefined {
  if (backend.transport === 'sse' || backend.era === 'legacy') return '2025-11-25';
  return undefined;
}
