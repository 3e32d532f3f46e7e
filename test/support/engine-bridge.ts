import { spawnSync } from 'node:child_process';
import { networkInterfaces } from 'node:os';

const MAX_BRIDGES = 200;
/** The gateway of Docker's default network, which tests of the gateway connect to. */
const DEFAULT_GATEWAY = '172.17.0.1';

/** A bridge of its own, because Docker engines that share one give out the same addresses. */
export interface EngineBridge {
  readonly name: string;
  /** Addresses of networks that tests create. */
  readonly pool: string;
  remove(): void;
}

/** Creates a bridge with an unused name; its number, which the kernel gives only once, is part of its addresses. */
export function createBridge(): EngineBridge {
  for (let number = 0; number < MAX_BRIDGES; number++) {
    const name = `toolmgr${number}`;
    if (!ip('link', 'add', 'name', name, 'type', 'bridge')) continue;
    if (!ip('addr', 'add', `10.213.${number}.1/24`, 'dev', name) || !ip('link', 'set', name, 'up')) {
      throw new Error(`the bridge ${name} could not be set up`);
    }
    return { name, pool: `base=10.214.${number}.0/24,size=28`, remove: () => void ip('link', 'del', name) };
  }
  throw new Error(
    `no bridge could be created (Debian: apt-get install iproute2), or ${MAX_BRIDGES} are left from killed tests`,
  );
}

/** Makes sure that this machine has the address, as one with a running Docker has. */
export function addDefaultGateway(): void {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  if (addresses.some(({ address }) => address === DEFAULT_GATEWAY)) return;
  ip('addr', 'add', `${DEFAULT_GATEWAY}/32`, 'dev', 'lo');
}

function ip(...args: readonly string[]): boolean {
  return spawnSync('ip', args, { stdio: 'ignore' }).status === 0;
}
