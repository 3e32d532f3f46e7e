import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type Message, metricsRequest, readMessage, traceRequest } from './protobuf.ts';

/** A received span: ids in hex, `''` for no parent. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
  /** 0 unset, 2 error. */
  readonly status: number;
  readonly statusMessage: string;
  readonly durationMs: number;
}

/** One point of a metric; for a histogram `value` is its count. */
export interface ReceivedPoint {
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly value: number;
  readonly resource: Readonly<Record<string, unknown>>;
}

/** An OTLP collector on loopback, over HTTP with protobuf. */
export interface OtlpReceiver extends AsyncDisposable {
  /** `127.0.0.1:port`. */
  readonly address: string;
  readonly spans: ReceivedSpan[];
  /** Points of the last export of metrics. */
  readonly points: readonly ReceivedPoint[];
  /** Headers and path of every export. */
  readonly exports: { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  /** HTTP status of the next responses; 200 at first. */
  answer(status: number): void;
}

/** Starts a collector, with `tls` over https. Refuses requests that are not OTLP with protobuf. */
export async function otlpReceiver(
  options: { readonly tls?: { readonly cert: string; readonly key: string }; readonly port?: number } = {},
): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const exports: OtlpReceiver['exports'][number][] = [];
  let points: readonly ReceivedPoint[] = [];
  let status = 200;
  const take: RequestListener = async (request, response) => {
    const body = await bodyOf(request);
    const path = request.url ?? '';
    exports.push({ path, headers: request.headers });
    const isOtlp = request.method === 'POST' && request.headers['content-type'] === 'application/x-protobuf';
    if (!isOtlp) return void response.writeHead(415).end();
    if (status !== 200) return void response.writeHead(status).end();
    if (path.endsWith('/v1/traces')) spans.push(...spansIn(readMessage(body, traceRequest)));
    else if (path.endsWith('/v1/metrics')) points = pointsIn(readMessage(body, metricsRequest));
    else return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  };
  const { tls, port = 0 } = options;
  const server = tls === undefined ? createServer(take) : createTlsServer(tls, take);
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    get points() {
      return points;
    },
    exports,
    answer: (next) => {
      status = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function spansIn(request: Message): ReceivedSpan[] {
  return all(request, 'resourceSpans').flatMap((group) => {
    const resource = attributesIn(one(group, 'resource'));
    return all(group, 'scopeSpans').flatMap((scope) =>
      all(scope, 'spans').map((span) => ({
        name: String(span.name?.[0]),
        traceId: hex(span.traceId?.[0]),
        spanId: hex(span.spanId?.[0]),
        parentSpanId: hex(span.parentSpanId?.[0]),
        kind: Number(span.kind?.[0]),
        attributes: attributesIn(span),
        resource,
        status: Number(one(span, 'status').code?.[0] ?? 0),
        statusMessage: String(one(span, 'status').message?.[0] ?? ''),
        durationMs: Number(((span.end?.[0] as bigint) - (span.start?.[0] as bigint)) / 1_000_000n),
      })),
    );
  });
}

function pointsIn(request: Message): ReceivedPoint[] {
  return all(request, 'resourceMetrics').flatMap((group) => {
    const resource = attributesIn(one(group, 'resource'));
    const metrics = all(group, 'scopeMetrics').flatMap((scope) => all(scope, 'metrics'));
    return metrics.flatMap((metric) => {
      const name = String(metric.name?.[0]);
      const kinds = ['gauge', 'sum', 'histogram'].flatMap((kind) => all(metric, kind));
      return kinds.flatMap((data) =>
        all(data, 'points').map((point) => ({
          name,
          attributes: attributesIn(point),
          value: Number(point.count?.[0] ?? point.int?.[0] ?? point.double?.[0] ?? 0),
          resource,
        })),
      );
    });
  });
}

function attributesIn(message: Message): Record<string, unknown> {
  const pairs = all(message, 'attributes').map((pair) => {
    const [value] = Object.values(one(pair, 'value'));
    const [first] = value ?? [];
    return [String(pair.key?.[0]), typeof first === 'bigint' ? Number(first) : first];
  });
  return Object.fromEntries(pairs);
}

function all(message: Message, field: string): Message[] {
  return (message[field] ?? []) as Message[];
}

function one(message: Message, field: string): Message {
  return (message[field]?.[0] ?? {}) as Message;
}

function hex(bytes: unknown): string {
  return Buffer.isBuffer(bytes) ? bytes.toString('hex') : '';
}
