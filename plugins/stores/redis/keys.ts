/** Turns the keys of one gateway into names in a database that others use too. */
export interface Keys {
  value(key: string): string;
  bucket(key: string): string;
}

/**
 * Every key carries the gateway's name: gateways that share a database share nothing else, replicas share all.
 *
 * Shape: `toolmgr:vmcp:session:{NAME}:KEY` and `toolmgr:rl:{NAME}:KEY`; with a prefix of one's own `PREFIX:{NAME}:KEY` and
 * `PREFIX:rl:{NAME}:KEY`. The braces are a hash tag: all keys of a gateway lie in one slot of a cluster.
 */
export function keysOf(gateway: string, keyPrefix: string | undefined): Keys {
  const own = keyPrefix === undefined || keyPrefix === '' || keyPrefix.endsWith(':') ? keyPrefix : `${keyPrefix}:`;
  const tag = `{${gateway.replace(/[%{}]/g, encodeURIComponent)}}:`;
  const values = `${own ?? 'toolmgr:vmcp:session:'}${tag}`;
  const buckets = `${own ?? 'toolmgr:'}rl:${tag}`;
  return { value: (key) => values + key, bucket: (key) => buckets + key };
}
