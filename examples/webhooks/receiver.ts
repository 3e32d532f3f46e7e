import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { z } from 'zod';

const SKEW_SECONDS = 300;

const payload = z.looseObject({
  uid: z.string(),
  mcp_request: z.looseObject({ method: z.string(), params: z.looseObject({ arguments: z.json().optional() }) }),
});

/** What a receiver keeps: the secret, and each uid until its timestamp is too old. */
export interface Receiver {
  readonly secret: string;
  readonly seen: Map<string, number>;
}

/** Why a request is not from the gateway, or is a repeated one; `undefined` when it is good. */
export function problemOf({ secret, seen }: Receiver, headers: IncomingHttpHeaders, body: Buffer): string | undefined {
  const seconds = String(headers['x-toolmgr-timestamp']);
  const expected = Buffer.from(
    `sha256=${createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex')}`,
  );
  const given = Buffer.from(String(headers['x-toolmgr-signature']));
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'the signature is wrong';
  const nowSeconds = Date.now() / 1000;
  if (!(Math.abs(nowSeconds - Number(seconds)) <= SKEW_SECONDS)) return 'the timestamp is too old';
  for (const [uid, at] of seen) if (nowSeconds - at > SKEW_SECONDS) seen.delete(uid);
  const { uid } = payload.parse(JSON.parse(body.toString()));
  if (seen.has(uid)) return 'the request was repeated';
  seen.set(uid, Number(seconds));
  return undefined;
}

/** A webhook that denies calls whose arguments contain a word. */
export function serveReceiver(receiver: Receiver, forbidden: string, keep: (request: Kept) => void): Server {
  return createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const problem = problemOf(receiver, request.headers, body);
    if (problem !== undefined) return void response.writeHead(401).end(problem);
    keep({ headers: request.headers, body });
    const { uid, mcp_request } = payload.parse(JSON.parse(body.toString()));
    const allowed = !JSON.stringify(mcp_request.params.arguments ?? {}).includes(forbidden);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ version: 'v0.1.0', uid, allowed, message: allowed ? 'fine' : 'a forbidden word' }));
  });
}

/** A request as it arrived. */
export interface Kept {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}
