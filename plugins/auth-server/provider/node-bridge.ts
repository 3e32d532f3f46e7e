import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Inbound, ResponseHeaders } from '@toolmgr/core';

/** A request for the OAuth library, whose routes have no base path. */
export interface LibraryRequest {
  readonly inbound: Pick<Inbound, 'method' | 'headers' | 'query' | 'remoteAddress'>;
  /** Path of the library's route, e.g. `/oauth/token`. */
  readonly path: string;
  /** URL that the library sees as its own: scheme and host of its URLs, and the path before its routes. */
  readonly baseUrl: string;
  readonly body?: Buffer | undefined;
}

/** The whole response of the library to `request`. */
export interface LibraryAnswer {
  readonly request: IncomingMessage;
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: Buffer;
}

/** Calls the library as a Node server would, and keeps the response, which is checked before a client gets it. */
export function answerByLibrary(
  wanted: LibraryRequest,
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<LibraryAnswer> {
  const { request, response } = libraryCall(wanted);
  return new Promise((resolve, reject) => {
    const end = (body: string | Buffer = ''): ServerResponse => {
      const { statusCode: status } = response;
      resolve({ request, status, headers: answerHeaders(response), body: Buffer.from(body) });
      return response;
    };
    Object.assign(response, { end });
    handle(request, response).catch(reject);
  });
}

/** Makes the request as the library may see it, with a response of which nothing is sent. */
export function libraryCall({ inbound, path, baseUrl, body }: LibraryRequest) {
  const base = new URL(baseUrl);
  const query = inbound.query === undefined || inbound.query === '' ? '' : `?${inbound.query}`;
  const { pathname, search } = new URL(`${path}${query}`, base);
  const url = `${pathname}${search}`;
  // the library reads `encrypted` and `originalUrl` instead of X-Forwarded-Proto and the path that a framework removed
  const socket = { remoteAddress: inbound.remoteAddress, encrypted: base.protocol === 'https:' };
  const request = new IncomingMessage(socket as unknown as Socket);
  const length = body === undefined ? {} : { 'content-length': String(body.length) };
  Object.assign(request, {
    method: inbound.method,
    url,
    originalUrl: `${base.pathname.replace(/\/$/, '')}${url}`,
    headers: { ...forwardedHeaders(inbound.headers), host: base.host, ...length },
    complete: true,
  });
  if (body !== undefined) request.push(body);
  request.push(null);
  return { request, response: new ServerResponse(request) };
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

/** The headers of a response that the endpoint does not write itself. */
export function answerHeaders(response: ServerResponse): ResponseHeaders {
  const kept: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(response.getHeaders())) {
    if (value === undefined || DROPPED.test(name)) continue;
    kept[name] = name === 'set-cookie' ? [value].flat().map(String) : String(value);
  }
  return kept;
}

const DROPPED =
  /^(?:access-control-|(?:connection|content-length|date|keep-alive|transfer-encoding|vary|x-powered-by)$)/;
