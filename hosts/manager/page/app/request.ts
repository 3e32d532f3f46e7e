import { ApiProblem, problemFrom } from './problem.ts';
import { refuseToken, token } from './session.ts';

/** What a request has beside its path. */
export interface RequestParts {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a request to the host that served the page. An answer that is no success is thrown as a problem; 401 of the host
 * itself opens the sign-in.
 */
export async function sendRequest(path: string, parts: RequestParts = {}): Promise<Response> {
  const answer = await fetched(path, parts);
  if (answer.ok) return answer;
  const fault = problemFrom(answer.status, await answer.text());
  if (answer.status === 401 && fault.code !== 'upstream_unauthorized') refuseToken();
  throw fault;
}

async function fetched(path: string, { method = 'GET', body, headers, signal }: RequestParts): Promise<Response> {
  try {
    return await fetch(path, {
      method,
      headers: {
        ...(token.value === '' ? {} : { authorization: `Bearer ${token.value}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
      redirect: 'error',
      credentials: 'same-origin',
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiProblem('The host does not answer. Is it still running?', 0, 'unreachable');
  }
}
