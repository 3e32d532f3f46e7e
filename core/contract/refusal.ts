/** An expected refusal. A value, never thrown; `reason` is sent to the client and names no internals. */
export interface Refusal {
  readonly refused: true;
  /** 503: undecided for now, e.g. while an identity provider is unavailable; a retry may succeed. */
  readonly status: 401 | 403 | 413 | 422 | 429 | 503;
  /** Short, for the client. */
  readonly reason: string;
  /** Whole milliseconds until the same request may succeed; only with 429 and 503. */
  readonly retryAfterMs?: number;
  /** Extra response headers, e.g. `www-authenticate` (RFC 9728 §5.1). */
  readonly headers?: Readonly<Record<string, string>>;
}
