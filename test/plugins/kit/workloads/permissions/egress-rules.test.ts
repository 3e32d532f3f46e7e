import { compileEgressRules } from '@toolmgr/plugins/kit/workloads/permissions';
import { describe, expect, it } from 'vitest';
import { BUILT_IN_PROFILES, permissionProfile } from '../../../../../plugins/kit/workloads/permissions/profile.ts';

const GATEWAY = '172.17.0.1';
const rules = (outbound: object | undefined, allowGateway = false) => {
  const { network } = permissionProfile.parse({ network: outbound === undefined ? {} : { outbound } });
  const decide = compileEgressRules({ outbound: network?.outbound, allowGateway, gatewayAddresses: [GATEWAY] });
  return (host: string, port = 443) => decide(host, port).isAllowed;
};

describe('what a container may reach', () => {
  it.each([
    ['nothing without hosts and ports', {}, ['a.example', 443, false]],
    ['everything without rules', undefined, ['a.example', 443, true]],
    ['everything with insecure_allow_all', { insecure_allow_all: true }, ['a.example', 25, true]],
    ['any port of a host', { allow_host: ['a.example'] }, ['a.example', 8443, true]],
    ['no other host', { allow_host: ['a.example'] }, ['b.example', 443, false]],
    ['no subdomain of an exact name', { allow_host: ['a.example'] }, ['x.a.example', 443, false]],
    ['any host at a port', { allow_port: [443] }, ['b.example', 443, true]],
    ['no other port', { allow_port: [443] }, ['b.example', 80, false]],
    ['only both together', { allow_host: ['a.example'], allow_port: [443] }, ['a.example', 80, false]],
    ['subdomains of .domain', { allow_host: ['.a.example'] }, ['x.a.example', 443, true]],
    ['the domain of .domain itself', { allow_host: ['.a.example'] }, ['a.example', 443, true]],
    ['subdomains of *.domain', { allow_host: ['*.a.example'] }, ['x.y.a.example', 443, true]],
    ['no domain that ends alike', { allow_host: ['.a.example'] }, ['evila.example', 443, false]],
    ['an address of a network', { allow_host: ['10.1.0.0/16'] }, ['10.1.2.3', 443, true]],
    ['no address outside', { allow_host: ['10.1.0.0/16'] }, ['10.2.0.1', 443, false]],
    ['names in any case, with the dot of the root', { allow_host: ['A.example'] }, ['a.EXAMPLE.', 443, true]],
    ['an IPv6 address in brackets', { allow_host: ['2001:db8::/32'] }, ['[2001:db8::1]', 443, true]],
  ] as const)('%s', (_, outbound, [host, port, isAllowed]) => {
    expect(rules(outbound)(host, port)).toBe(isAllowed);
  });

  it('refuses the gateway of the container host, also when everything else is allowed', () => {
    for (const host of ['host.docker.internal', 'gateway.docker.internal', GATEWAY, `::ffff:${GATEWAY}`]) {
      expect(rules({ insecure_allow_all: true })(host), host).toBe(false);
      expect(rules({ insecure_allow_all: true }, true)(host), host).toBe(true);
    }
  });

  it('allows the gateway with the flag at any port, whatever the profile says', () => {
    expect(rules({ allow_port: [443] }, true)(GATEWAY, 5432)).toBe(true);
  });

  it('has the two profiles of the contract', () => {
    const of = (name: string) =>
      compileEgressRules({
        outbound: BUILT_IN_PROFILES[name]?.network?.outbound,
        allowGateway: false,
        gatewayAddresses: [],
      });
    expect(of('none')('a.example', 443)).toEqual({ isAllowed: false, rule: 'default' });
    expect(of('network')('a.example', 443)).toEqual({ isAllowed: true, rule: 'allow all' });
  });
});
