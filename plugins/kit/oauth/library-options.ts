import type { JsonObject } from '@toolmgr/core';
import {
  allowInsecureRequests,
  type CustomFetchOptions,
  customFetch,
  OperationProcessingError,
  ResponseBodyError,
  UnsupportedOperationError,
} from 'oauth4webapi';
import { jsonBody, type RemoteHttp } from '../safe-http/remote-http.ts';

/** A response without a token. Contains no text of the server except the error code. */
export class OauthRefusal {
  readonly status: number;
  /** `error` of an answer with a status of 400 to 499 (RFC 6749 §5.2). Any text. */
  readonly error: string | undefined;
  /** Why a response with status 200 is invalid, from the library. */
  readonly problem: string | undefined;

  constructor(status: number, { error, problem }: { readonly error?: string; readonly problem?: string } = {}) {
    this.status = status;
    this.error = error;
    this.problem = problem;
  }
}

type Fetch = (
  url: string,
  wanted: CustomFetchOptions<string, URLSearchParams | string | undefined>,
) => Promise<Response>;

/**
 * Options with which the library sends its requests by `http`, which decides which URLs may be plain http. `read` selects the
 * members of a successful response that the library validates.
 */
export function optionsOf(http: Pick<RemoteHttp, 'send'>, read: (body: JsonObject) => object) {
  const send: Fetch = async (url, { method, headers, body, signal }) => {
    const answer = await http.send(url, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      ...(body === undefined ? {} : { body: body.toString() }),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = SUCCESS.has(answer.status)
      ? JSON.stringify(read(jsonBody(answer, url)))
      : answer.body.toString('utf8');
    const status = Math.min(answer.status, MAX_STATUS);
    return new Response(WITHOUT_BODY.has(status) ? null : text, { status, headers: JSON_TYPE });
  };
  return { [customFetch]: send, [allowInsecureRequests]: true } as const;
}

/** Some servers use another content type for JSON. Other headers are dropped: a challenge would hide the error code. */
const JSON_TYPE = { 'content-type': 'application/json' };
/** A registration is answered with 201. */
const SUCCESS: ReadonlySet<number> = new Set([200, 201]);
/** `Response` allows no higher status. */
const MAX_STATUS = 599;
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205]);

/** Converts errors of the library, which contain the response with its tokens. */
export async function answerOf(work: () => Promise<object>): Promise<JsonObject | OauthRefusal> {
  try {
    return (await work()) as JsonObject;
  } catch (cause) {
    if (cause instanceof ResponseBodyError) return new OauthRefusal(cause.status, { error: cause.error });
    if (isInvalidUrl(cause)) return new OauthRefusal(200, { problem: 'its "issuer" property is not a URL' });
    if (!(cause instanceof OperationProcessingError || cause instanceof UnsupportedOperationError)) throw cause;
    if (cause.cause instanceof Response) return new OauthRefusal(cause.cause.status);
    return new OauthRefusal(200, { problem: cause.message.replace('"response" body ', 'its ') });
  }
}

function isInvalidUrl(cause: unknown): boolean {
  return cause instanceof TypeError && 'code' in cause && cause.code === 'ERR_INVALID_URL';
}
