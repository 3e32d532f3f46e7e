import type { Responder } from '../../contract/inbound.ts';

/** A responder that adds headers to every response. */
export function withHeaders(responder: Responder, more: Readonly<Record<string, string>>): Responder {
  return {
    failed: (error) => responder.failed?.(error),
    send: (status, headers, body) => responder.send(status, { ...headers, ...more }, body),
    open: (status, headers) => responder.open(status, { ...headers, ...more }),
    onDisconnect: (listener) => responder.onDisconnect(listener),
  };
}
