import type { ClientContext } from '../../contract/client-context.ts';
import type { WireError } from '../../contract/wire-error.ts';
import { GatewayFault, UserActionRequired } from '../../errors.ts';
import { BackendError, CODE, wireError } from '../../mcp/errors.ts';
import { linkAsError } from '../../pipeline/user-action.ts';

/** The error for a client whose subscription failed; `undefined` when neither the backend nor the person caused it. */
export function errorFromWatch(cause: unknown, client: ClientContext): WireError | undefined {
  if (cause instanceof BackendError) {
    const { code, message, data, members } = cause;
    return { code, message, ...(data === undefined ? {} : { data }), ...(members === undefined ? {} : { members }) };
  }
  if (cause instanceof UserActionRequired) {
    return linkAsError(client, cause);
  }
  if (!(cause instanceof GatewayFault) || !cause.code.startsWith('BACKEND_')) return undefined;
  return wireError(CODE.internalError, `${cause.message} (${cause.code})`);
}
