import type { Backend } from './backend.ts';
import type { JsonObject } from './json.ts';

/**
 * Keeps the lists of backends between two runs of a gateway. A list is of a description and its credentials: an implementation gives
 * it to an equal backend only. Neither function throws.
 */
export interface ListStore {
  /** What `write` got last for this backend; `undefined` for nothing. The core checks its shape. */
  read(backend: Backend): unknown;
  /** The backend has sent these lists. Encodable as JSON; the shape may differ between versions. */
  write(backend: Backend, lists: JsonObject): void;
}
