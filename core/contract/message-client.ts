/** A client with one connection that carries JSON-RPC messages in both directions, e.g. stdio. */
export interface MessageClient {
  /** Writes one message, given in pieces. Returns whether more may be written at once. */
  write(message: readonly Buffer[]): boolean;
  /** Runs `listener` whenever more may be written; returns how to stop that. */
  onDrain(listener: () => void): () => void;
  /** Bytes that the client has not taken. */
  readonly pendingBytes: number;
}

/** The gateway's side of such a connection. */
export interface MessageConnection {
  /**
   * Takes one message; its answer is written. Resolves when the next message may follow: at once, or when `initialize` is answered.
   */
  accept(message: Buffer): Promise<void>;
  /** Resolves when no request but open subscriptions runs. */
  idle(): Promise<void>;
  /** Cancels what runs and ends the session. */
  end(): Promise<void>;
}
