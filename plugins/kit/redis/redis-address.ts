/** The address of a server. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

const DEFAULT_PORT = 6379;
const ADDRESS = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:/@[\]]+))(?::(\d{1,5}))?$/;

/** `host`, `host:port` or `[ipv6]:port`; `undefined` for anything else, e.g. a URL with credentials. */
export function redisAddress(text: string): RedisAddress | undefined {
  const [, ipv6, name, digits] = ADDRESS.exec(text) ?? [];
  const host = ipv6 ?? name;
  const port = digits === undefined ? DEFAULT_PORT : Number(digits);
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}
