import { BlockList } from 'node:net';
import { userInfo } from 'node:os';
import type { Caller, Inbound, Refusal } from '@toolmgr/core';

const ISSUER = 'toolmgr-local';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Identifies a request from this machine as the operating-system user. Refuses requests from other machines and from unknown
 * addresses.
 */
export function createLocalCaller(name = userName()): (inbound: Inbound) => Caller | Refusal {
  const caller: Caller = {
    issuer: ISSUER,
    subject: name,
    key: `${ISSUER}\0${name}`,
    name,
    claims: { sub: name, iss: ISSUER, name },
  };
  return ({ remoteAddress }) => (isThisMachine(remoteAddress) ? caller : ELSEWHERE);
}

const ELSEWHERE: Refusal = {
  refused: true,
  status: 403,
  reason: 'only connections from this machine are accepted',
};

function isThisMachine(address: string | undefined): boolean {
  if (address === undefined) return false;
  return LOOPBACK.check(address, address.includes(':') ? 'ipv6' : 'ipv4'); // also matches IPv4-mapped IPv6 addresses
}

/** The login name, or the uid of a user without a name, as in many containers. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 0}`;
  }
}
