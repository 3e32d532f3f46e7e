/** Headers of one connection, which a proxy does not forward (RFC 9110 §7.6.1). */
const OF_CONNECTION = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer'],
  ...['upgrade', 'expect'],
]);

/**
 * The headers that a proxy forwards, as a flat list of names and values. `Host` of a request comes from its target, and
 * the framing of a response is written again.
 */
export function forwardedHeaders(raw: readonly string[], of: 'request' | 'response'): string[] {
  const named = new Set(
    pairsOf(raw)
      .filter(([name]) => name.toLowerCase() === 'connection')
      .flatMap(([, value]) =>
        value
          .toLowerCase()
          .split(',')
          .map((each) => each.trim()),
      ),
  );
  const also = of === 'request' ? 'host' : 'transfer-encoding';
  return pairsOf(raw).flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    return lower === also || OF_CONNECTION.has(lower) || named.has(lower) ? [] : [name, value];
  });
}

function pairsOf(raw: readonly string[]): (readonly [string, string])[] {
  return Array.from({ length: raw.length / 2 }, (_, at) => [raw[2 * at] ?? '', raw[2 * at + 1] ?? ''] as const);
}
