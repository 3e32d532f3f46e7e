/** Bytes in flight of a gateway. */
export interface BytesInFlight {
  /** Request bodies, results of backends and unsent responses now. */
  readonly held: number;
  /** How many there may be. */
  readonly most: number;
  /** Requests, results and streams that were refused because there was no space. */
  readonly refused: number;
}
