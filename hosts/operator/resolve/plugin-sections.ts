import { clusterPlugins, completeKind } from '../kinds/cluster-plugins.ts';
import { KINDS } from '../kinds/index.ts';
import type { Context, Section } from './context.ts';

/** The sections that plugins make of `spec.config` and of other objects, by key. `undefined`: a check failed; all have run. */
export async function pluginSections(context: Context, isFirst: boolean): Promise<Section | undefined> {
  const { spec, findings, lookups } = context;
  const server = {
    ...findings,
    spec,
    async find(kind: string, name: string, by: string) {
      const definition = KINDS.find((each) => each.kind === kind);
      if (definition === undefined) throw new Error(`no kind is named ${kind}`);
      const found = lookups.find(await completeKind(definition), name, by);
      return found.is === 'valid' ? { is: found.is, spec: found.spec, status: found.object.status } : found;
    },
  };
  const made: [string, unknown][] = [];
  let isSound = true;
  for (const { contractKey = '', fromCluster } of await clusterPlugins()) {
    const { section } = fromCluster;
    if (section === undefined || (section.isFirst ?? false) !== isFirst) continue;
    const read = await section.of(spec.config?.[contractKey], server);
    if (read === undefined) isSound = false;
    else made.push([contractKey, read.section]);
  }
  return isSound ? Object.fromEntries(made) : undefined;
}
