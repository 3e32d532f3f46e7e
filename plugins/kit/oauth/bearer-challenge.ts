import { customFetch, protectedResourceRequest, WWWAuthenticateChallengeError } from 'oauth4webapi';

/** One challenge of a `WWW-Authenticate` header. Source: RFC 9110 §11.6.1. */
export interface Challenge {
  /** Lower case. */
  readonly scheme: string;
  /** Names in lower case. */
  readonly parameters: Readonly<Record<string, string | undefined>>;
}

/** The challenges of a `WWW-Authenticate` header; none when it is absent or cannot be parsed. */
export async function challengesIn(header: string | undefined): Promise<readonly Challenge[]> {
  if (header === undefined) return [];
  const response = new Response(null, { status: 401, headers: { 'www-authenticate': header } });
  try {
    // the library has no function that only parses: it gets a response without a request
    await protectedResourceRequest('unused', 'GET', new URL('https://unused.invalid'), undefined, undefined, {
      [customFetch]: async () => response,
    });
    return [];
  } catch (cause) {
    if (!(cause instanceof WWWAuthenticateChallengeError)) throw cause;
    return cause.cause.map(({ scheme, parameters }) => ({ scheme, parameters: { ...parameters } }));
  }
}
