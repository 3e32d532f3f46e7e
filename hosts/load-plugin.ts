import type { Plugin } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';

/** A first-party plugin by its address; `undefined` when there is none. */
export async function loadPlugin(address: string): Promise<Plugin | undefined> {
  const load = Object.hasOwn(catalogue, address) ? catalogue[address] : undefined;
  return load === undefined ? undefined : (await load()).default;
}
