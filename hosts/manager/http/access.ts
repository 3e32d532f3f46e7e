import { createHash, timingSafeEqual } from 'node:crypto';
import { type Problem, problem } from '@toolmgr/plugins/kit/operations';
import type { FastifyRequest } from 'fastify';

/** Who a request is from. */
export interface Caller {
  /** Name for logs. */
  readonly name: string;
}

/** A request whose caller is not known. */
export interface AccessRefusal extends Problem {
  /** `WWW-Authenticate`, which tells clients how to get a token. */
  readonly challenge?: string;
}

/** What a caller is recognized by. */
export interface AccessRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly remoteAddress: string | undefined;
}

/** Decides who a request is from. */
export interface Access {
  authenticate(request: AccessRequest): Promise<Caller | AccessRefusal> | Caller | AccessRefusal;
}

/** Everyone who can open the unix socket is the user or in the group of the file. */
export const socketAccess: Access = { authenticate: () => ({ name: 'socket' }) };

/**
 * Callers with the token of the token file, or with a page token. `others` decides about any other token, e.g. of an identity
 * provider.
 */
export function tokenAccess(token: string, isPageToken: (token: string) => boolean, others: Access = REFUSED): Access {
  const expected = digest(token);
  return {
    authenticate(request) {
      const given = bearerToken(request.headers.authorization);
      if (given !== undefined && timingSafeEqual(digest(given), expected)) return { name: 'local' };
      if (given !== undefined && isPageToken(given)) return { name: 'page' };
      return others.authenticate(request);
    },
  };
}

const REFUSED: Access = {
  authenticate: ({ headers }) =>
    problem('unauthorized', bearerToken(headers.authorization) === undefined ? NO_TOKEN : WRONG_TOKEN),
};

const NO_TOKEN =
  'send "Authorization: Bearer TOKEN"; the token is in the file server/token of the state folder (toolmgr serve prints its path)';
const WRONG_TOKEN =
  'the token is not that of this manager, or it has expired; it is in the file server/token of the state folder';

/** The token of `Authorization: Bearer`. */
export function bearerToken(header: string | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(header ?? '')?.[1];
}

/** Texts of any length are compared in the same time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

const callers = new WeakMap<FastifyRequest, Caller>();

/** Remembers the caller of a request. */
export function setCaller(request: FastifyRequest, caller: Caller): void {
  callers.set(request, caller);
}

/** Name of the caller of a request. */
export function callerOf(request: FastifyRequest): string {
  return callers.get(request)?.name ?? 'unknown';
}

/** The parts of a request for {@link Access}. Repeated headers count as absent: the first would be chosen by chance. */
export function accessRequest({ headers, raw }: FastifyRequest): AccessRequest {
  const { authorization, host } = headers;
  return { headers: { authorization, host }, remoteAddress: raw.socket.remoteAddress };
}
