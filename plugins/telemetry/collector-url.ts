/** The base URL without a trailing slash, or the invalid key with the reason. */
export type CollectorUrl = { readonly base: string } | { readonly wrong: string; readonly at: 'endpoint' | 'insecure' };

/**
 * Reads the endpoint of a collector: `host:port`, with the scheme that `insecure` says, or a URL with its own.
 * `/v1/traces` and `/v1/metrics` are appended to its path (OTLP, `OTEL_EXPORTER_OTLP_ENDPOINT`).
 */
export function collectorUrl(endpoint: string, insecure: boolean): CollectorUrl {
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(endpoint);
  const text = hasScheme ? endpoint : `${insecure ? 'http' : 'https'}://${endpoint}`;
  const wrong = (why: string): CollectorUrl => ({ wrong: why, at: 'endpoint' });
  if (!URL.canParse(text)) return wrong('expected host:port or a URL such as https://collector:4318');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return wrong('expected http or https: spans and metrics are sent as OTLP over HTTP');
  }
  if (url.username !== '' || url.password !== '') return wrong('must not contain credentials; use headers');
  if (url.search !== '' || url.hash !== '') return wrong('must not have a query or fragment');
  const path = url.pathname.replace(/\/+$/, '');
  if (/\/v1\/(traces|metrics)$/.test(path)) return wrong('must end before /v1/…: each signal adds its own path');
  if (insecure && url.protocol === 'https:') {
    return { wrong: 'contradicts the https of the endpoint; remove one of the two', at: 'insecure' };
  }
  return { base: `${url.origin}${path}` };
}
