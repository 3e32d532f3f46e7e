import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** A gateway with pins in a state folder. */
export interface PinsFile {
  /** Name of the gateway. */
  readonly gateway: string;
  readonly file: string;
}

/** Where a gateway keeps its pins without `toolPinning.file`. */
export function pinsFileOf(state: string, gateway: string): string {
  return join(state, 'pins', `${encodeURIComponent(gateway)}.json`);
}

/** The gateways that have pins in a state folder, by name. A file with another name is left out. */
export async function pinsFiles(state: string): Promise<readonly PinsFile[]> {
  const names = await readdir(join(state, 'pins')).catch(() => []);
  return names.sort().flatMap((name) => {
    const gateway = name.endsWith('.json') ? decoded(name.slice(0, -'.json'.length)) : undefined;
    const file = gateway === undefined ? '' : pinsFileOf(state, gateway);
    return gateway === undefined || gateway === '' || basename(file) !== name ? [] : [{ gateway, file }];
  });
}

function decoded(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}
