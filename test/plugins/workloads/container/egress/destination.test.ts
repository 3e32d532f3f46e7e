import { describe, expect, it } from 'vitest';
import { createDestinations, type Resolve } from '../../../../../plugins/workloads/container/egress/destination.ts';

const NAMES: Readonly<Record<string, readonly string[]>> = {
  'public.example': ['93.184.216.34', '2606:2800:220:1::1'],
  'inside.example': ['10.1.0.7'],
  'mixed.example': ['93.184.216.34', '169.254.169.254'],
  'mapped.example': ['::ffff:10.1.0.7'],
  'machine.example': ['198.18.0.5'],
  'loop.example': ['127.0.0.1'],
};
const asked: string[] = [];
const resolve: Resolve = async (host) => {
  asked.push(host);
  const found = NAMES[host];
  if (found === undefined) throw new Error('ENOTFOUND');
  return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
};

function decide(host: string, outbound: object = { insecure_allow_all: true }, allowGateway = false, port = 443) {
  const rules = { insecure_allow_all: false, allow_host: [], allow_port: [], ...outbound };
  const gateways = { gatewayAddresses: ['172.17.0.1'], ownAddresses: () => ['172.17.0.1', '198.18.0.5', '9.9.9.9'] };
  return createDestinations({ outbound: rules, allowGateway, ...gateways, resolve })(host, port);
}
const outcome = async (...args: Parameters<typeof decide>): Promise<string> => {
  const found = await decide(...args);
  if ('refusal' in found) return found.refusal;
  return 'failure' in found ? found.failure : found.addresses.map(({ address }) => address).join();
};

describe('where a connection of a container may lead', () => {
  it('is the addresses of a name, and of no name that is not allowed', async () => {
    expect(await outcome('public.example')).toBe('93.184.216.34,2606:2800:220:1::1');
    asked.length = 0;
    expect(await outcome('public.example', { allow_host: ['other.example'] })).toContain('does not allow it');
    expect(asked).toEqual([]);
    expect(await outcome('absent.example')).toContain('its name was not resolved: ENOTFOUND');
  });

  it('is no address that is not public, unless the profile names it', async () => {
    for (const host of ['10.1.0.7', 'inside.example', 'mapped.example', '::ffff:10.1.0.7', 'mixed.example']) {
      expect(await outcome(host), host).toMatch(/it leads to \S+, a (private|link-local) address/);
    }
    expect(await outcome('inside.example', { allow_host: ['inside.example'] })).toContain('a private address');
    expect(await outcome('inside.example', { allow_host: ['inside.example', '10.1.0.0/16'] })).toBe('10.1.0.7');
    expect(await outcome('10.1.0.7', { insecure_allow_all: true, allow_host: ['10.1.0.7'] })).toBe('10.1.0.7');
    expect(await outcome('10.2.0.1', { allow_host: ['10.1.0.0/16'] })).toContain('does not allow it');
  });

  it('is never loopback, whatever the profile and the flag say', async () => {
    const all = { insecure_allow_all: true, allow_host: ['127.0.0.0/8', '0.0.0.0', '::1'] };
    for (const host of ['127.0.0.1', 'loop.example', '0.0.0.0', '::1', '[::1]', '::ffff:127.0.0.1']) {
      expect(await outcome(host, all, true), host).toMatch(/a loopback address|an unspecified address/);
    }
  });

  it('is an address of this machine in none of its forms', async () => {
    const networks = { allow_host: ['172.16.0.0/12', '198.18.0.0/15'] };
    for (const host of ['[::ffff:ac11:1]', '[::ffff:172.17.0.1]', '[0:0:0:0:0:ffff:ac11:1]', '[::ffff:c612:5]']) {
      const { hostname } = new URL(`http://${host}`);
      expect(await outcome(hostname, networks), host).toContain('--allow-docker-gateway');
    }
    expect(await outcome('[::ffff:909:909]')).toContain('--allow-docker-gateway');
    expect(await outcome('[::ffff:ac11:2]', networks)).toBe('172.17.0.2');
    expect(await outcome('[::ffff:808:808]')).toBe('8.8.8.8');
  });

  it('is an address of this machine only with the flag, also by a name of it', async () => {
    for (const host of ['host.docker.internal', '172.17.0.1', '198.18.0.5', 'machine.example', '9.9.9.9']) {
      expect(await outcome(host), host).toContain('--allow-docker-gateway');
    }
    const none = { allow_host: [], allow_port: [] };
    for (const host of ['host.docker.internal', 'gateway.docker.internal', 'HOST.containers.internal.', '172.17.0.1']) {
      expect(await outcome(host, none, true, 5432), host).toBe('172.17.0.1');
    }
    expect(await outcome('machine.example', undefined, true)).toBe('198.18.0.5');
  });

  it('is another address of this machine when the engine has no bridge', async () => {
    const rules = { allowGateway: true, gatewayAddresses: ['10.88.0.1'], resolve };
    const at = (own: string[]) => createDestinations({ ...rules, outbound: undefined, ownAddresses: () => own });
    expect(await at(['198.18.0.5'])('host.docker.internal', 80)).toMatchObject({
      addresses: [{ address: '198.18.0.5' }],
    });
    expect(await at([])('host.docker.internal', 80)).toMatchObject({ addresses: [{ address: '10.88.0.1' }] });
  });
});
