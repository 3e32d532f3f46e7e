import { GatewayFault } from '@toolmgr/core';

/** Whether a request failed because the storage did not answer or is full: the same request may succeed later. */
export function isStorageFault(cause: unknown): boolean {
  return cause instanceof GatewayFault && (cause.code === 'STORE_UNAVAILABLE' || cause.code === 'STORE_FULL');
}
