import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Inbound, ResponseHeaders } from '@toolmgr/core';
import { type InjectOptions, inject } from 'light-my-request';

/** A request for the OAuth library, whose routes have no base path. */
export interface LibraryRequest {
  readonly inbound: Pick<Inbound, 'method' | 'headers' | 'query' | 'remoteAddress'>;
  /** Path of the library's route, e.g. `/oauth/token`. */
  readonly path: string;
  /** URL that the library sees as its own: scheme and host of its URLs, and the path before its routes. */
  readonly baseUrl: string;
  readonly body?: Buffer | undefined;
}

/** The whole response of the library. */
export interface LibraryAnswer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: Buffer;
}

/** Runs code that needs a Node request and response, and collects the response. */
export async function answerByLibrary(
  { inbound, path, baseUrl, body }: LibraryRequest,
  handle: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
): Promise<LibraryAnswer> {
  const base = new URL(baseUrl);
  const query = inbound.query === undefined || inbound.query === '' ? '' : `?${inbound.query}`;
  const prefix = base.pathname.replace(/\/$/, '');
  const options: InjectOptions = {
    method: inbound.method as NonNullable<InjectOptions['method']>,
    url: `${path}${query}`,
    headers: { ...forwardedHeaders(inbound.headers), host: base.host },
    remoteAddress: inbound.remoteAddress ?? '',
    ...(body === undefined ? {} : { payload: body }),
  };
  const answer = await inject(async (request, response) => {
    // the library reads these two instead of X-Forwarded-Proto and the path that a framework removed
    Object.assign(request.socket, { encrypted: base.protocol === 'https:' });
    Object.assign(request, { originalUrl: `${prefix}${request.url}` });
    try {
      await handle(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    } catch (cause) {
      (response as unknown as ServerResponse).destroy(cause as Error);
    }
  }, options);
  return { status: answer.statusCode, headers: answerHeaders(answer.headers), body: answer.rawPayload };
}

/** The headers that the library may read: none that a proxy or a client could use to change its URLs. */
function forwardedHeaders(headers: Inbound['headers']): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of PASSED) {
    const value = headers[name];
    if (value !== undefined) passed[name] = value;
  }
  return passed;
}

/** `origin` is missing: the endpoint checks it and adds the CORS headers. `accept` is missing: errors are JSON, or our page. */
const PASSED = ['authorization', 'content-type', 'cookie', 'user-agent'] as const;

function answerHeaders(headers: Readonly<Record<string, number | string | string[] | undefined>>): ResponseHeaders {
  const kept: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || DROPPED.test(name)) continue;
    kept[name] = name === 'set-cookie' ? [value].flat().map(String) : String(value);
  }
  return kept;
}

const DROPPED =
  /^(?:access-control-|(?:connection|content-length|date|keep-alive|transfer-encoding|vary|x-powered-by)$)/;
