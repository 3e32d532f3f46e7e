/** An expected no. A value, never thrown; `reason` goes on the wire and names no internals. */
export interface Refusal {
  readonly refused: true;
  /** 503: nobody can tell now, e.g. while an identity provider is away; asking again later is worth it. */
  readonly status: 401 | 403 | 429 | 503;
  /** Short, for the client. */
  readonly reason: string;
  /** Whole milliseconds until the same request may pass; only with 429 and 503. */
  readonly retryAfterMs?: number;
  /** Extra response headers, e.g. `www-authenticate` (RFC 9728 §5.1). */
  readonly headers?: Readonly<Record<string, string>>;
}
