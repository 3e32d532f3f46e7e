import { BlockList, isIP } from 'node:net';
import type { ContainerIsolation } from '../runtimes.ts';

/** What a container may reach. */
export interface EgressRules {
  readonly outbound: ContainerIsolation['outbound'];
  /** `--allow-docker-gateway`. */
  readonly allowGateway: boolean;
  /** Addresses of the engine's bridge gateway, and of this machine as containers see it. */
  readonly gatewayAddresses: readonly string[];
}

/** A decision with the rule that made it. */
export interface EgressDecision {
  readonly isAllowed: boolean;
  readonly rule: 'gateway' | 'allow all' | 'profile' | 'default';
}

const GATEWAY_NAMES = new Set(['host.docker.internal', 'gateway.docker.internal', 'host.containers.internal']);

/**
 * Decides whether a container may connect to a host and port. Compiled once per container; the first rule that matches
 * decides: the gateway of the container host, then `insecure_allow_all` or no rules at all, then the profile's hosts and
 * ports (an empty list of the two allows all, both empty allow nothing), then no.
 *
 * Source: run spec §1 `--allow-docker-gateway`; reference run-command §4.5.
 */
export function compileEgressRules({
  outbound,
  allowGateway,
  gatewayAddresses,
}: EgressRules): (host: string, port: number) => EgressDecision {
  const gateways = new Set(gatewayAddresses);
  const hosts = (outbound?.allow_host ?? []).map(hostRule);
  const ports = new Set(outbound?.allow_port ?? []);
  return (asked, port) => {
    const host = plainHost(asked);
    if (GATEWAY_NAMES.has(host) || gateways.has(host)) return { isAllowed: allowGateway, rule: 'gateway' };
    if (outbound === undefined || outbound.insecure_allow_all) return { isAllowed: true, rule: 'allow all' };
    if (hosts.length === 0 && ports.size === 0) return { isAllowed: false, rule: 'default' };
    const isPort = ports.size === 0 || ports.has(port);
    const isHost = hosts.length === 0 || hosts.some((rule) => rule(host));
    return isPort && isHost ? { isAllowed: true, rule: 'profile' } : { isAllowed: false, rule: 'default' };
  };
}

/** Whether an address is one of the entries that are addresses, or in one of those that are networks. */
export function namedAddresses(allowHost: readonly string[]): (address: string) => boolean {
  const rules = allowHost.filter((entry) => isIP(plainHost(entry.replace(/\/\d{1,3}$/, ''))) !== 0).map(hostRule);
  return (address) => rules.some((rule) => rule(address));
}

/** One entry of `allow_host`: a name, `.domain` or `*.domain` (the domain and its subdomains), an address or a network. */
function hostRule(entry: string): (host: string) => boolean {
  const network = /^(.+)\/(\d{1,3})$/.exec(entry);
  if (network !== null) {
    const [, address = '', bits = '0'] = network;
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    const list = new BlockList();
    list.addSubnet(address, Number(bits), family);
    return (host) => isIP(host) !== 0 && list.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
  }
  const domain = /^\*?\.(.+)$/.exec(entry)?.[1];
  if (domain !== undefined) return (host) => host === domain || host.endsWith(`.${domain}`);
  return (host) => host === plainHost(entry);
}

/** Lower case, without the brackets of an IPv6 address, without the dot of the root, mapped IPv4 addresses as IPv4. */
export function plainHost(host: string): string {
  const plain = host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
  return isIP(plain) === 6 ? ipv4Of(plain) : plain;
}

/** The IPv4 address of a mapped one in any of its forms, such as `::ffff:7f00:1`; other addresses in their one short form. */
function ipv4Of(address: string): string {
  const short = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) ?? address;
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short) ?? [];
  if (high === undefined || low === undefined) return short;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 0xff, b >> 8, b & 0xff].join('.');
}
