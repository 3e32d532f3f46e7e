import { type LookupAddress, lookup } from 'node:dns';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { explainCause, LATE, within } from '@toolmgr/core';
import { LOOPBACK, notPublic } from '@toolmgr/plugins/kit/safe-http/addresses';
import {
  compileEgressRules,
  type EgressRules,
  namedAddresses,
  plainHost,
} from '@toolmgr/plugins/kit/workloads/permissions';

const RESOLVE_MS = 10_000;
const MAX_ADDRESSES = 16;
/** Where the rules of RFC 6890 have no exception: this machine itself, whatever a profile says. */
const NEVER = new Set(['a loopback address', 'an unspecified address']);

/** The addresses that a name has. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/** A host and port of which it is known where they lead, or why a container may not connect there. */
export type Destination =
  | { readonly addresses: readonly LookupAddress[] }
  | { readonly refusal: string }
  | { readonly failure: string };

/** What decides about connections; the last two are the system's, replaced in tests. */
export interface DestinationRules extends EgressRules {
  readonly resolve?: Resolve;
  /** The addresses of this machine. */
  readonly ownAddresses?: () => readonly string[];
}

/**
 * Decides about the connections of one container, and finds the addresses they go to. A caller connects to these and does not
 * resolve the name again, so that a name cannot lead elsewhere afterwards.
 *
 * The name and port are checked against the profile, then each address of the name: the addresses of this machine are
 * those of the gateway, and an address that is not public must be in an address or network of `allow_host`.
 */
export function createDestinations(rules: DestinationRules): (host: string, port: number) => Promise<Destination> {
  const { gatewayAddresses, allowGateway } = rules;
  const { resolve = systemResolve, ownAddresses = addressesOfMachine } = rules;
  const decide = compileEgressRules(rules);
  const isNamed = namedAddresses(rules.outbound?.allow_host ?? []);

  const problemOf = (address: string): string | undefined => {
    const kind = notPublic(address);
    if (kind !== undefined && NEVER.has(kind)) return `it leads to ${address}, ${kind}`;
    if (gatewayAddresses.includes(address) || ownAddresses().includes(address)) {
      return allowGateway
        ? undefined
        : `it leads to ${address}, an address of the container host (see --allow-docker-gateway)`;
    }
    if (kind === undefined || isNamed(address)) return undefined;
    return `it leads to ${address}, ${kind}; the permission profile can name that address in network.outbound.allow_host`;
  };

  return async (asked, port) => {
    const host = plainHost(asked);
    const { isAllowed, rule } = decide(host, port);
    if (rule === 'gateway') {
      if (!isAllowed) return { refusal: 'it is the container host (see --allow-docker-gateway)' };
      return { addresses: [gatewayAddress(host, gatewayAddresses, ownAddresses())] };
    }
    if (!isAllowed) return { refusal: 'the permission profile does not allow it (network.outbound)' };
    const family = isIP(host);
    if (family !== 0) {
      const problem = problemOf(host);
      return problem === undefined ? { addresses: [{ address: host, family }] } : { refusal: problem };
    }
    let found: readonly LookupAddress[] | typeof LATE;
    try {
      found = await within(RESOLVE_MS, undefined, resolve(host));
    } catch (cause) {
      return { failure: `its name was not resolved: ${explainCause(cause)}` };
    }
    if (found === LATE) return { failure: `its name was not resolved within ${RESOLVE_MS / 1_000} s` };
    const addresses = found
      .slice(0, MAX_ADDRESSES)
      .map(({ address, family }) => ({ address: plainHost(address), family }));
    const problem = addresses.map(({ address }) => problemOf(address)).find((each) => each !== undefined);
    if (problem !== undefined) return { refusal: problem };
    return addresses.length === 0 ? { failure: 'its name has no address' } : { addresses };
  };
}

/**
 * Where the names of the gateway lead: to the bridge of the engine where this machine has its address, else to another
 * address of this machine. Podman makes its bridge only when a container uses it. Never to loopback: what listens only there
 * is not meant for containers.
 */
function gatewayAddress(host: string, gateways: readonly string[], own: readonly string[]): LookupAddress {
  const candidates = [host, ...gateways].filter((address) => own.includes(address));
  const other = own.find((each) => isIP(each) === 4 && notPublic(each) !== LOOPBACK);
  const address = candidates[0] ?? other ?? gateways[0] ?? host;
  return { address, family: isIP(address) };
}

/** With those of the loopback interface: a public address may be among them. */
function addressesOfMachine(): readonly string[] {
  return Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .map(({ address }) => plainHost(address));
}

/** As every program of this machine resolves names, with `/etc/hosts`. */
function systemResolve(host: string): Promise<readonly LookupAddress[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly LookupAddress[]>();
  lookup(host, { all: true }, (cause, found) => (cause === null ? resolve(found) : reject(cause)));
  return promise;
}
