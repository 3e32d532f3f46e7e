/** An expected no. A value, never thrown; `reason` goes on the wire and names no internals. */
export interface Refusal {
  readonly refused: true;
  readonly status: 401 | 403 | 429;
  /** Short, for the asker. */
  readonly reason: string;
  /** Whole milliseconds until the same request may pass; only with 429. */
  readonly retryAfterMs?: number;
  /** Extra response headers, e.g. `www-authenticate` (RFC 9728 §5.1). */
  readonly headers?: Readonly<Record<string, string>>;
}
