/** Bytes in flight of a gateway. */
export interface BytesInFlight {
  /** Request bodies, results of backends and unsent responses now. */
  readonly held: number;
  /** How many there may be. */
  readonly most: number;
  /** Requests, results and streams that were refused because there was no space. */
  readonly refused: number;
}

/** Memory for the bytes in flight of several gateways of one process, made by `createMemoryBudget`. */
export interface MemoryBudget {
  readonly now: BytesInFlight;
}
