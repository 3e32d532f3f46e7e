import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { type AddressRules, addressProblem } from './remote-url.ts';

/** Rules for addresses and certificates of connections. */
export interface ConnectRules extends AddressRules {
  /** PEM certificates that replace the system's roots, from `readCaBundle`. */
  readonly ca?: string;
  /** Certificate and private key of this client, in PEM. */
  readonly identity?: { readonly cert: string; readonly key: string };
  /** Accepts any certificate of the server, for development. */
  readonly skipsVerification?: boolean;
  /** Resolves names; the system's resolver by default, replaced in tests. */
  readonly lookup?: LookupFunction;
}

/**
 * Connects only to addresses that the rules allow.
 *
 * A literal address is checked first, because it is not resolved. A name is checked with all its addresses at the moment of
 * connecting, so that DNS rebinding has no effect.
 */
export function guardedConnector(rules: ConnectRules, timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({
    timeout: timeoutMs,
    allowH2: false,
    ...tlsOptions(rules),
    lookup: guardedLookup(rules),
  });
  return (options, callback) => {
    const problem = addressProblem(options.hostname, rules);
    if (problem !== undefined) callback(new ForbiddenAddress(problem), null);
    else connect(options, callback);
  };
}

/** The rules for certificates as options of a TLS connection. */
export function tlsOptions({ ca, identity, skipsVerification }: ConnectRules) {
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(identity === undefined ? {} : { cert: identity.cert, key: identity.key }),
    ...(skipsVerification === true ? { rejectUnauthorized: false } : {}),
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

/** A connection was refused because of its address. */
export class ForbiddenAddress extends Error {}
