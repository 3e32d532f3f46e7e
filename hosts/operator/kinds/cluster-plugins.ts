import type { Catalogue } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import type { ClusterReader } from '@toolmgr/plugins/kit/kubernetes';
import { STRATEGIES } from '../../vmcp/sections.ts';
import type { ClusterPlugin, KindDefinition } from './kind.ts';

let known: Promise<readonly ClusterPlugin[]> | undefined;

/** The plugins of the catalogue that say something of objects of a cluster; none of them is loaded. */
export function clusterPlugins(): Promise<readonly ClusterPlugin[]> {
  known ??= Promise.all(Object.entries(catalogue).map(clusterPlugin)).then((each) => each.flat());
  return known;
}

async function clusterPlugin([address, entry]: [string, Catalogue[string]]): Promise<readonly ClusterPlugin[]> {
  if (typeof entry === 'function' || entry.contract === undefined) return [];
  const { fromCluster } = (await entry.contract()).contract as Partial<ClusterReader>;
  if (fromCluster === undefined) return [];
  const { contractKey, choice } = entry.section ?? {};
  return [
    {
      address,
      ...(contractKey === undefined ? {} : { contractKey }),
      ...(choice?.of === STRATEGIES ? { strategy: choice.type } : {}),
      fromCluster: await fromCluster(),
    },
  ];
}

/** The kind with the spec that the plugins of the catalogue make. */
export async function completeKind<K extends KindDefinition>(kind: K): Promise<K> {
  const plugins = await clusterPlugins();
  const declared = plugins.flatMap(({ fromCluster }) => fromCluster.kinds?.[kind.kind]?.spec ?? [])[0];
  return { ...kind, spec: kind.specOf?.(plugins) ?? declared ?? kind.spec };
}
