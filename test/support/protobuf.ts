/** A decoded message: every field is a list, in wire order. Unknown fields are left out. */
export interface Message {
  readonly [field: string]: readonly unknown[] | undefined;
}

/** Fields of a message type by number: name and decoder. */
export interface MessageType {
  readonly [number: number]: readonly [name: string, reading: Reading | (() => MessageType)];
}

type Reading = 'bytes' | 'text' | 'int' | 'fixed' | 'double';

/**
 * Decodes one protobuf message.
 * @throws Error when the bytes do not match the type
 */
export function readMessage(bytes: Buffer, type: MessageType): Message {
  const message: Record<string, unknown[]> = {};
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const wire = tag & 7;
    let raw: bigint | Buffer;
    if (wire === 0) raw = varint();
    else {
      const length = wire === 1 ? 8 : wire === 5 ? 4 : Number(varint());
      if (wire !== 1 && wire !== 2 && wire !== 5) throw new Error(`wire type ${wire} at ${at}`);
      if (at + length > bytes.length) throw new Error(`a field is longer than its message at ${at}`);
      raw = bytes.subarray(at, at + length);
      at += length;
    }
    const field = type[tag >> 3];
    if (field === undefined) continue;
    const [name, reading] = field;
    message[name] ??= [];
    message[name].push(decoded(raw, reading));
  }
  return message;
}

function decoded(raw: bigint | Buffer, reading: Reading | (() => MessageType)): unknown {
  if (typeof reading === 'function') return readMessage(raw as Buffer, reading());
  if (reading === 'int') return raw as bigint;
  const bytes = raw as Buffer;
  if (reading === 'text') return bytes.toString('utf8');
  if (reading === 'double') return bytes.readDoubleLE();
  return reading === 'fixed' ? bytes.readBigInt64LE() : bytes;
}

// The parts of OTLP that tests check. Source: opentelemetry-proto 1.x, trace.proto, metrics.proto, common.proto

const anyValue = (): MessageType => ({
  1: ['text', 'text'],
  2: ['bool', 'int'],
  3: ['int', 'int'],
  4: ['double', 'double'],
});
const keyValue = (): MessageType => ({ 1: ['key', 'text'], 2: ['value', anyValue] });
const resource = (): MessageType => ({ 1: ['attributes', keyValue] });
const spanStatus = (): MessageType => ({ 2: ['message', 'text'], 3: ['code', 'int'] });
const span = (): MessageType => ({
  1: ['traceId', 'bytes'],
  2: ['spanId', 'bytes'],
  4: ['parentSpanId', 'bytes'],
  5: ['name', 'text'],
  6: ['kind', 'int'],
  7: ['start', 'fixed'],
  8: ['end', 'fixed'],
  9: ['attributes', keyValue],
  15: ['status', spanStatus],
});
const scopeSpans = (): MessageType => ({ 2: ['spans', span] });
const resourceSpans = (): MessageType => ({ 1: ['resource', resource], 2: ['scopeSpans', scopeSpans] });

/** `ExportTraceServiceRequest` */
export const traceRequest: MessageType = { 1: ['resourceSpans', resourceSpans] };

const numberPoint = (): MessageType => ({ 4: ['double', 'double'], 6: ['int', 'fixed'], 7: ['attributes', keyValue] });
const histogramPoint = (): MessageType => ({
  4: ['count', 'fixed'],
  5: ['sum', 'double'],
  9: ['attributes', keyValue],
});
const numbers = (): MessageType => ({ 1: ['points', numberPoint] });
const histogram = (): MessageType => ({ 1: ['points', histogramPoint] });
const metric = (): MessageType => ({
  1: ['name', 'text'],
  3: ['unit', 'text'],
  5: ['gauge', numbers],
  7: ['sum', numbers],
  9: ['histogram', histogram],
});
const scopeMetrics = (): MessageType => ({ 2: ['metrics', metric] });
const resourceMetrics = (): MessageType => ({ 1: ['resource', resource], 2: ['scopeMetrics', scopeMetrics] });

/** `ExportMetricsServiceRequest` */
export const metricsRequest: MessageType = { 1: ['resourceMetrics', resourceMetrics] };
