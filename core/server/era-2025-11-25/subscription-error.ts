import type { WireError } from '../../contract/wire-error.ts';
import { GatewayFault } from '../../errors.ts';
import { BackendError, CODE, wireError } from '../../mcp/errors.ts';

/** The error for a client whose subscription failed at the backend; `undefined` when the backend did not cause it. */
export function errorFromWatch(cause: unknown): WireError | undefined {
  if (cause instanceof BackendError) {
    const { code, message, data, members } = cause;
    return { code, message, ...(data === undefined ? {} : { data }), ...(members === undefined ? {} : { members }) };
  }
  if (!(cause instanceof GatewayFault) || !cause.code.startsWith('BACKEND_')) return undefined;
  return wireError(CODE.internalError, `${cause.message} (${cause.code})`);
}
