import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { notPublic } from './public-address.ts';

/** Where connections may go, and whom they believe. */
export interface ConnectRules {
  /** Loopback, private, link-local (cloud metadata) and other special addresses are taken too. */
  readonly allowPrivateAddresses?: boolean;
  /** PEM certificates that replace the system's roots, from `readCaBundle`. */
  readonly ca?: string;
  /** How names become addresses; the system's way unless a test has another. */
  readonly lookup?: LookupFunction;
}

/**
 * Connects only to addresses that the rules allow.
 *
 * A literal address is judged before, since nobody looks it up; a name is judged by every address it has at the very
 * moment of connecting: what a name meant earlier, or means to another resolver, counts for nothing.
 */
export function guardedConnector(rules: ConnectRules, timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({
    timeout: timeoutMs,
    allowH2: false,
    ...(rules.ca === undefined ? {} : { ca: rules.ca }),
    lookup: guardedLookup(rules),
  });
  return (options, callback) => {
    const problem = addressProblem(options.hostname, rules);
    if (problem !== undefined) callback(new ForbiddenAddress(problem), null);
    else connect(options, callback);
  };
}

function guardedLookup(rules: ConnectRules): LookupFunction {
  const resolve = rules.lookup ?? (lookup as LookupFunction);
  return (hostname, options, callback) => {
    resolve(hostname, options, (error, found, family) => {
      if (error !== null) return callback(error, found, family);
      const addresses = Array.isArray(found) ? found.map(({ address }: LookupAddress) => address) : [found];
      const problem = addresses.map((address) => addressProblem(address, rules)).find((each) => each !== undefined);
      if (problem === undefined) return callback(null, found, family);
      callback(new ForbiddenAddress(`${problem} (by its name)`), found, family);
    });
  };
}

/** The words of the refusal for an address; names have none. */
export function addressProblem(host: string, { allowPrivateAddresses }: ConnectRules): string | undefined {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  if (allowPrivateAddresses === true || isIP(address) === 0) return undefined;
  const word = notPublic(address);
  return word === undefined ? undefined : `leads to ${word}, which is not allowed`;
}

/** A connection that was not opened because of where it leads. */
export class ForbiddenAddress extends Error {}
