import { BlockList, isIP } from 'node:net';
import type { Environment } from '../contract/environment.ts';

/** A forward proxy for requests to one origin. */
export interface ProxyRoute {
  readonly isTls: boolean;
  readonly hostname: string;
  readonly port: number;
  /** Value of `proxy-authorization`, from the user name and password in the proxy's URL. Secret. */
  readonly authorization: string | undefined;
  /** The whole URL. Secret. */
  readonly url: string;
  /** Name for logs and errors, without credentials. */
  readonly label: string;
}

/**
 * The proxy that an environment sets for a URL; `undefined` for a direct connection.
 *
 * `HTTPS_PROXY` is for https, `HTTP_PROXY` for http, `ALL_PROXY` for both, lower case first; `NO_PROXY` takes names
 * including their subdomains, addresses, networks (CIDR), ports, and `*`. Loopback addresses never use a proxy.
 * @throws TypeError naming the variable whose value is not an http or https URL; the value is not repeated
 */
export function proxyRouteFor(url: URL, env: Environment): ProxyRoute | undefined {
  const names = url.protocol === 'https:' ? ['HTTPS_PROXY', 'ALL_PROXY'] : ['HTTP_PROXY', 'ALL_PROXY'];
  const found = names.flatMap((name) => [name.toLowerCase(), name]).find((name) => env[name]);
  if (found === undefined || isExempt(url, env.no_proxy ?? env.NO_PROXY ?? '')) return undefined;
  return routeFrom(found, env[found] ?? '');
}

function routeFrom(name: string, value: string): ProxyRoute {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const proxy = URL.canParse(text) ? new URL(text) : undefined;
  if (proxy === undefined || (proxy.protocol !== 'http:' && proxy.protocol !== 'https:') || proxy.hostname === '') {
    throw new TypeError(`${name} is not the http or https URL of a proxy`);
  }
  const isTls = proxy.protocol === 'https:';
  const port = proxy.port === '' ? (isTls ? 443 : 80) : Number(proxy.port);
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return {
    isTls,
    hostname: bare(proxy.hostname),
    port,
    authorization: credentials === ':' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`,
    url: proxy.href,
    label: `${proxy.hostname}:${port}`,
  };
}

function isExempt(url: URL, noProxy: string): boolean {
  const host = bare(url.hostname).toLowerCase();
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  if (host === 'localhost' || host.endsWith('.localhost') || isLoopback(host)) return true;
  return noProxy
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => matches(entry.toLowerCase(), host, port));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  if (entry.includes('/')) return isWithin(entry, host);
  const [, name = entry, entryPort] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
  if (entryPort !== undefined && entryPort !== port) return false;
  const wanted = bare(name).replace(/^\*?\./, '');
  return host === wanted || (isIP(host) === 0 && host.endsWith(`.${wanted}`));
}

function isWithin(network: string, host: string): boolean {
  const family = isIP(host);
  const [address = '', bits = ''] = network.split('/', 2);
  if (family === 0 || isIP(bare(address)) !== family || !/^\d{1,3}$/.test(bits)) return false;
  const kind = family === 4 ? 'ipv4' : 'ipv6';
  if (Number(bits) > (family === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  list.addSubnet(bare(address), Number(bits), kind);
  return list.check(host, kind);
}

function isLoopback(host: string): boolean {
  return host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
