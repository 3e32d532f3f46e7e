import { isTokenError } from './failures.ts';
import type { UpstreamTokenSet } from './upstream.ts';

/**
 * Refreshes with the requested scopes, because some providers (Entra) otherwise grant fewer. A provider that granted fewer refuses
 * them with `invalid_scope`; it is asked again for what it granted.
 */
export async function refreshWithScopes<T>(
  requested: readonly string[],
  { scope }: UpstreamTokenSet,
  send: (parameters: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const wanted = requested.length === 0 ? scope : requested.join(' ');
  if (wanted === undefined) return send({});
  try {
    return await send({ scope: wanted });
  } catch (cause) {
    if (!isTokenError(cause, (error) => error === 'invalid_scope')) throw cause;
    return send({});
  }
}
