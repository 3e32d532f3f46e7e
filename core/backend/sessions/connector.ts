import { randomInt } from 'node:crypto';
import type { Backend, BackendHello } from '../../contract/backend.ts';
import type { Environment } from '../../contract/environment.ts';
import type { Era } from '../../contract/era.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { StdioLauncher } from '../../contract/stdio-launcher.ts';
import type { Log } from '../../extension/plugin.ts';
import type { HttpClientFactory } from '../../http1/http-client.ts';
import type { Limits } from '../../limits.ts';
import type { ByteBudget } from '../../mcp/byte-budget.ts';
import { BackendError } from '../../mcp/errors.ts';
import type { BackendCredentials } from '../authorizers.ts';
import { ConnectionFailure, categoryOf } from '../failure.ts';
import { HttpTarget } from '../transports/http-target.ts';
import type { Spawn } from '../transports/process-group.ts';
import { SseTransport } from '../transports/sse.ts';
import { StdioTransport } from '../transports/stdio.ts';
import { StreamableHttpTransport } from '../transports/streamable-http.ts';
import type { SessionEvents, SessionFor, Transport, TransportSink } from './backend-session.ts';
import { backendTurnOf, StartTime } from './first-start.ts';
import { JsonRpcConnection } from './json-rpc-connection.ts';
import {
  type EraAnswer,
  type HelloRequest,
  initialize,
  initializeUnlessModern,
  type Negotiated,
  probe,
  probePatiently,
} from './negotiate-era.ts';

/** A program that answered before and is slow now gets this many times `limits.helloMs`. */
const MAX_TIMEOUT_FACTOR = 6;

/**
 * A legacy era is detected again after a day, because nothing fails when the server starts to support the newer one.
 */
const ERA_VALID_MS = 86_400_000;

/** What connections to one backend are made with. */
export interface ConnectorOptions {
  readonly backend: Backend;
  readonly credentials: BackendCredentials;
  readonly clientInfo: JsonObject;
  readonly limits: Limits;
  readonly bytes: ByteBudget;
  readonly log: Log;
  readonly environment: Environment;
  readonly spawn: Spawn | undefined;
  /** An entry of the slot `stdioLaunchers`. */
  readonly launcher: ((name: string) => StdioLauncher) | undefined;
  readonly httpClient: HttpClientFactory | undefined;
  readonly processCount: { processes: number };
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
  #era: Era | undefined;
  #eraKnownAtMs = 0;
  #target: HttpTarget | undefined;
  #skipProbe = false;
  #timeoutFactor = 1;
  readonly #startTime = new StartTime();

  constructor(options: ConnectorOptions) {
    this.#options = options;
    this.#era = eraWithoutProbe(options.backend);
  }

  /** The configured or detected era; `undefined` until the backend has answered. */
  get era(): Era | undefined {
    return this.#era;
  }

  /** Something contradicts the detected era: the next connection detects it again. */
  forgetEra(): void {
    this.#era = eraWithoutProbe(this.#options.backend);
  }

  /**
   * Opens one connection and negotiates its era.
   * @throws GatewayFault BACKEND_* or AUTH_STRATEGY_FAILED; then everything is closed again
   */
  async open(who: ConnectFor): Promise<JsonRpcConnection> {
    const { backend, environment, limits, log } = this.#options;
    const endTurn = this.#isFirstStart
      ? await backendTurnOf(backend, environment, limits.firstStartMs, log, who.signal)
      : undefined;
    const startedMs = performance.now();
    let tookMs: number | undefined;
    this.#startTime.began();
    try {
      const connection = await this.#open(who, startedMs);
      tookMs = performance.now() - startedMs;
      return connection;
    } finally {
      this.#startTime.ended(tookMs);
      await endTurn?.();
    }
  }

  /** How many milliseconds a program may take to start, by the starts before; 0 for a backend that is not a program. */
  get startMs(): number {
    const { backend, limits } = this.#options;
    return backend.transport === 'stdio' ? this.#startTime.longestMs(limits.firstStartMs) : 0;
  }

  /** The backend is down: its pooled connections are dropped. */
  closePooledConnections(): void {
    this.#target?.closePooledConnections();
  }

  async close(): Promise<void> {
    await this.#target?.close();
    this.#target = undefined;
  }

  get #isFirstStart(): boolean {
    return this.#options.backend.transport === 'stdio' && this.#startTime.isFirst;
  }

  async #open(who: ConnectFor, startedMs: number): Promise<JsonRpcConnection> {
    const started = await this.#start(who, startedMs);
    try {
      const answer = await this.#ask(started, who);
      if (answer.is === 'modern') return this.#openModern(started, answer.hello);
      return await this.#openLegacy(started, answer, who);
    } catch (cause) {
      // A started program or stream must not outlive a failed negotiation.
      await started.connection.close().catch(() => undefined);
      throw cause;
    }
  }

  #openModern({ connection, open }: Started, hello: BackendHello): JsonRpcConnection {
    this.#rememberEra('2026-07-28');
    connection.agree('2026-07-28', hello);
    open();
    return connection;
  }

  #rememberEra(era: Era): void {
    this.#era = era;
    this.#eraKnownAtMs = this.#options.now();
  }

  async #ask({ connection, startedMs }: Started, who: ConnectFor): Promise<EraAnswer> {
    const { backend } = this.#options;
    if (who.era === '2025-11-25') return { is: 'legacy' };
    const mayChange = backend.transport === 'streamable-http' && backend.era !== 'legacy';
    const isOld = mayChange && this.#options.now() - this.#eraKnownAtMs > ERA_VALID_MS;
    if ((this.#era === '2025-11-25' && !isOld) || this.#skipProbe) return { is: 'legacy' };
    const { helloMs, firstStartMs } = this.#options.limits;
    const silentMs = Math.min(helloMs, firstStartMs / 2);
    let answer = await (this.#isFirstStart
      ? probePatiently(connection, this.#hello(who, startedMs), silentMs)
      : probe(connection, this.#hello(who, startedMs)));
    if (backend.era === 'modern' && answer.is === 'silent' && answer.late !== undefined) answer = await answer.late;
    if (backend.era === 'modern' && answer.is !== 'modern') {
      throw new ConnectionFailure(backend.name, 'protocol', 'has `era: modern` and does not support it');
    }
    return answer;
  }

  async #openLegacy(first: Started, answer: EraAnswer, who: ConnectFor): Promise<JsonRpcConnection> {
    const started = first.connection.alive ? first : await this.#start(who, performance.now());
    const { connection, transport } = started;
    try {
      const late = answer.is === 'silent' && started === first ? answer.late : undefined;
      const negotiated = await this.#negotiate(late, started, who);
      if (negotiated.is === 'modern') return this.#openModern(started, negotiated.hello);
      connection.agree('2025-11-25', negotiated.hello);
      await connection.notify('notifications/initialized');
    } catch (cause) {
      if (who.era !== undefined) {
        await connection.close().catch(() => undefined);
        throw cause;
      }
      const silent = cause instanceof ConnectionFailure && cause.code === 'BACKEND_TIMEOUT';
      // It may have been legacy before: a refused initialize contradicts that.
      if (cause instanceof BackendError || categoryOf(cause) === 'http') this.forgetEra();
      if (silent) this.#timeoutFactor = Math.min(this.#timeoutFactor + 1, MAX_TIMEOUT_FACTOR);
      // Neither the probe nor `initialize` was answered: the probe may have confused the server.
      this.#skipProbe = silent && answer.is === 'silent';
      await connection.close().catch(() => undefined);
      throw cause;
    }
    this.#timeoutFactor = 1;
    if (who.era === undefined) this.#rememberIfProven(answer);
    started.open();
    if (transport instanceof StreamableHttpTransport) transport.openChannel();
    return connection;
  }

  #rememberIfProven(answer: EraAnswer): void {
    this.#skipProbe = false;
    const proven = answer.is === 'legacy' || (answer.is === 'silent' && this.#options.backend.transport === 'stdio');
    if (proven) this.#rememberEra('2025-11-25');
  }

  async #negotiate(
    late: Promise<EraAnswer> | undefined,
    { connection, startedMs }: Started,
    who: ConnectFor,
  ): Promise<Negotiated> {
    const { clientInfo } = this.#options;
    const asked = this.#hello(who, startedMs);
    if (late !== undefined) return await initializeUnlessModern(late, connection, asked, clientInfo);
    return { is: 'legacy', hello: await initialize(connection, asked, clientInfo) };
  }

  /** The first start ends with its time limit; later the program gets the time for each request. */
  #hello(who: ConnectFor, startedMs: number): HelloRequest {
    const { limits, backend } = this.#options;
    const leftMs = Math.max(1, Math.ceil(startedMs + limits.firstStartMs - performance.now()));
    const factor = backend.transport === 'stdio' ? this.#timeoutFactor : 1;
    const timeoutMs = this.#isFirstStart ? leftMs : Math.max(this.startMs, limits.helloMs * factor);
    return {
      caller: who.caller,
      purpose: who.purpose,
      capabilities: who.capabilities,
      timeoutMs,
      totalMs: timeoutMs,
      signal: who.signal,
    };
  }

  async #start(who: ConnectFor, startedMs: number): Promise<Started> {
    const { backend, clientInfo, limits, log, now } = this.#options;
    let opened = false;
    const events: SessionEvents = Object.create(who.events, {
      // A connection that ends during negotiation is a failed attempt, not a lost connection.
      lost: { value: (cause: ConnectionFailure) => (opened ? who.events.lost(cause) : undefined) },
    });
    let transport: Transport | undefined;
    // a program that outlives gateways may still answer a request of an earlier one
    const firstId = backend.command?.launcher === undefined ? 1 : randomInt(2 ** 47);
    const about = { backend: backend.name, caller: who.caller, clientInfo, limits, log, events, now, firstId };
    const connection = new JsonRpcConnection(about, (sink) => {
      transport = this.#transport(sink, who);
      return transport;
    });
    if (transport instanceof SseTransport) await openStream(transport, connection, who.signal);
    const open = () => {
      opened = true;
    };
    return { connection, transport, startedMs, open };
  }

  #transport(sink: TransportSink, who: SessionFor): Transport {
    const { backend, limits, bytes, log, environment, spawn, processCount, credentials, httpClient } = this.#options;
    if (backend.transport === 'stdio') {
      const name = backend.command?.launcher;
      const launcher = name === undefined ? undefined : this.#options.launcher?.(name);
      return new StdioTransport({ backend, limits, bytes, log, processCount, environment, spawn, launcher }, sink);
    }
    this.#target ??= new HttpTarget(backend, credentials, environment, httpClient);
    const target = this.#target;
    if (backend.transport === 'sse') return new SseTransport({ target, sink, limits, holder: who, log, bytes });
    return new StreamableHttpTransport(target, sink, limits, who, bytes);
  }
}

interface Started {
  readonly connection: JsonRpcConnection;
  readonly transport: Transport | undefined;
  /** By `performance.now()`. */
  readonly startedMs: number;
  /** From now on the end of the connection is reported. */
  open(): void;
}

async function openStream(transport: SseTransport, connection: JsonRpcConnection, signal: AbortSignal): Promise<void> {
  try {
    await transport.open(signal);
  } catch (cause) {
    await connection.close();
    throw cause;
  }
}

/** The era that needs no probe: configured, or implied by the transport. */
function eraWithoutProbe(backend: Backend): Era | undefined {
  if (backend.transport === 'sse' || backend.era === 'legacy') return '2025-11-25';
  return undefined;
}
