/** Builds the Redis keys of one gateway in a shared database. */
export interface Keys {
  value(key: string): string;
  bucket(key: string): string;
}

/**
 * Every key has the gateway's name: replicas share keys, other gateways in the same database do not.
 *
 * Shape: `toolmgr:vmcp:session:{NAME}:KEY` and `toolmgr:rl:{NAME}:KEY`; with a `keyPrefix` `PREFIX:{NAME}:KEY` and
 * `PREFIX:rl:{NAME}:KEY`. The braces are a hash tag: all keys of a gateway are in one slot of a cluster.
 */
export function keysOf(gateway: string, keyPrefix: string | undefined): Keys {
  const own = keyPrefix === undefined || keyPrefix === '' || keyPrefix.endsWith(':') ? keyPrefix : `${keyPrefix}:`;
  const tag = `{${gateway.replace(/[%{}]/g, encodeURIComponent)}}:`;
  const values = `${own ?? 'toolmgr:vmcp:session:'}${tag}`;
  const buckets = `${own ?? 'toolmgr:'}rl:${tag}`;
  return { value: (key) => values + key, bucket: (key) => buckets + key };
}
