import type { Readable, Writable } from 'node:stream';
import { explainCause, type Gateway, type Log, type Plan } from '@toolmgr/core';
import { readLines, TOO_LONG } from './read-lines.ts';
import { createMessageWriter } from './write-messages.ts';

/** What is served, and how. */
export interface StdioOptions {
  readonly gateway: Pick<Gateway, 'connect' | 'settled'>;
  readonly limits: StdioLimits;
  readonly input: Readable;
  /** Only messages are written to it. */
  readonly output: Writable;
  readonly log: Log;
  /** Ends the connection when aborted. */
  readonly signal: AbortSignal;
}

/** The limits of a plan that apply to stdio. */
export type StdioLimits = Pick<Plan['limits'], 'bodyBytes' | 'resultBytes' | 'streamBufferBytes' | 'stopMs'>;

/**
 * Serves a gateway to one client over stdio: one JSON-RPC message per line, both protocol eras. Resolves when the client has
 * closed its end and its running requests are answered (at most `limits.stopMs`), or when `signal` is aborted.
 *
 * Source: MCP 2025-11-25 and 2026-07-28, transports, stdio.
 */
export async function serveStdio({ gateway, limits, input, output, log, signal }: StdioOptions): Promise<void> {
  const writer = createMessageWriter(output, { highBytes: limits.streamBufferBytes, mostBytes: limits.resultBytes });
  const ended = AbortSignal.any([signal, writer.ended]);
  const connection = gateway.connect(writer);
  ended.addEventListener('abort', () => input.destroy(), { once: true });
  try {
    await Promise.race([gateway.settled(), aborted(ended)]); // the first answers name all backends that are ready soon
    for await (const line of readLines(input, limits.bodyBytes)) {
      if (line === TOO_LONG) writer.write([tooLong(limits.bodyBytes)]);
      else await connection.accept(line);
      await writer.belowMark(); // a client that does not read is not read from
      if (ended.aborted) break;
    }
    await Promise.race([connection.idle(), aborted(AbortSignal.any([ended, AbortSignal.timeout(limits.stopMs)]))]);
  } catch (cause) {
    if (!ended.aborted) throw cause;
  } finally {
    await connection.end();
  }
  if (writer.ended.aborted) {
    log[writer.isTooSlow ? 'warn' : 'debug']('the stdio connection ended', {
      cause: explainCause(writer.ended.reason),
    });
  } else await Promise.race([writer.flushed(), aborted(AbortSignal.any([signal, AbortSignal.timeout(limits.stopMs)]))]);
}

function tooLong(bytes: number): Buffer {
  const error = { code: INVALID_REQUEST, message: `a line may have ${bytes} bytes` };
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: null, error }));
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

const INVALID_REQUEST = -32600;
