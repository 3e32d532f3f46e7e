import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { JsonObject } from '@toolmgr/core';
import { loopbackServer } from './loopback-server.ts';

/** One request that a webhook got. */
export interface WebhookRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The body, decoded. */
  readonly payload: JsonObject & { readonly uid: string; readonly mcp_request: { readonly params: JsonObject } };
}

/** Answers a request: an object is the body of a response with status 200, with the uid of the request. */
export type WebhookAnswer = (request: WebhookRequest, response: ServerResponse) => JsonObject | undefined;

/** A webhook on loopback. */
export interface WebhookServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly requests: WebhookRequest[];
}

export const allow: WebhookAnswer = () => ({ allowed: true });
export const deny: WebhookAnswer = () => ({ allowed: false, message: 'internal words', reason: 'rule 7' });

/** Answers with a JSON patch. */
export function patching(...patch: JsonObject[]): WebhookAnswer {
  return () => ({ allowed: true, patch_type: 'json_patch', patch });
}

/** Starts a webhook, with TLS if there is a certificate. Without an object its `answer` writes the response itself. */
export async function webhookServer(
  answer: WebhookAnswer,
  tls?: Parameters<typeof loopbackServer>[1],
): Promise<WebhookServer> {
  const requests: WebhookRequest[] = [];
  const server = await loopbackServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces);
      const got = { headers: request.headers, body, payload: JSON.parse(body.toString()) } as WebhookRequest;
      requests.push(got);
      const answered = answer(got, response);
      if (answered === undefined) return;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ version: 'v0.1.0', uid: got.payload.uid, ...answered }));
    });
  }, tls);
  return {
    url: `${server.url}/check`,
    port: server.port,
    requests,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
