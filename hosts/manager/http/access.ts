import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Problem, problem } from '@toolmgr/plugins/management';
import type { FastifyRequest } from 'fastify';

/** Who a request is from. */
export interface Caller {
  /** Name for logs. */
  readonly name: string;
}

/** Decides who a request is from. */
export interface Access {
  authenticate(headers: IncomingHttpHeaders): Promise<Caller | Problem> | Caller | Problem;
}

/** Everyone who can open the unix socket is the user or in the group of the file. */
export const socketAccess: Access = { authenticate: () => ({ name: 'socket' }) };

/** Callers with the token of the token file, or with a page token. */
export function tokenAccess(token: string, isPageToken: (token: string) => boolean): Access {
  const expected = digest(token);
  return {
    authenticate({ authorization }) {
      const given = bearerToken(authorization);
      if (given === undefined) return problem('unauthorized', NO_TOKEN);
      if (timingSafeEqual(digest(given), expected)) return { name: 'local' };
      if (isPageToken(given)) return { name: 'page' };
      return problem('unauthorized', WRONG_TOKEN);
    },
  };
}

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
