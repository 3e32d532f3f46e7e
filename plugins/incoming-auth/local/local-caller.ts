import { BlockList } from 'node:net';
import { userInfo } from 'node:os';
import type { Caller, Inbound, Refusal } from '@toolmgr/core';

const ISSUER = 'toolmgr-local';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Says that a request comes from the operating-system user, when it comes from this machine.
 * Elsewhere a user of this machine means nothing, and an unknown address is elsewhere.
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
  reason: 'only connections from this machine are taken for its user',
};

function isThisMachine(address: string | undefined): boolean {
  if (address === undefined) return false;
  return LOOPBACK.check(address, address.includes(':') ? 'ipv6' : 'ipv4'); // knows IPv4 inside IPv6 too
}

/** The login name; a user without one, as in many containers, goes by number. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 0}`;
  }
}
