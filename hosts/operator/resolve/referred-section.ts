import { clusterPlugins, completeKind } from '../kinds/cluster-plugins.ts';
import type { KindDefinition } from '../kinds/kind.ts';
import { contentHash } from '../objects/content-hash.ts';
import { type Context, type Section, serviceUrl } from './context.ts';
import { withoutUndefined } from './strategy.ts';

/** The section that an object with settings of a plugin becomes. `undefined`: a check failed. */
export async function referredSection(
  definition: KindDefinition,
  ref: { readonly name: string },
  context: Context,
): Promise<{ readonly section: Section; readonly key: string; readonly hash: string } | undefined> {
  const { name, lookups, findings, pod } = context;
  const { kind } = definition;
  const plugin = (await clusterPlugins()).find(({ fromCluster }) => fromCluster.kinds?.[kind]);
  const settings = plugin?.fromCluster.kinds?.[kind];
  if (settings === undefined) throw new Error(`no plugin declares ${kind}`);
  const { by, condition, reasons, secrets } = settings.reference;
  const [missing, invalid, valid] = reasons;
  const found = lookups.find(await completeKind(definition), ref.name, by);
  if (found.is !== 'valid') {
    findings.fail(condition, found.is === 'missing' ? missing : invalid, found.message);
    return undefined;
  }
  const { namespace = context.namespace } = found.object.metadata;
  const use = { server: name, url: serviceUrl(context), namespace, ref };
  const read = await settings.section(found.spec, use, pod);
  if ('invalid' in read) findings.fail(condition, invalid, `${kind} ${ref.name}: ${read.invalid}`);
  else if ('problem' in read && secrets === undefined) findings.fail(condition, invalid, read.problem);
  else findings.tell(condition, 'True', valid, `${kind} ${ref.name} is valid`);
  if ('problem' in read && secrets !== undefined) findings.fail(secrets[0], secrets[1], read.problem, secrets[2]);
  if (!('section' in read)) return undefined;
  const key = plugin?.contractKey?.split('.').at(-1) ?? '';
  return { section: withoutUndefined(read.section), key, hash: contentHash(found.object.spec) };
}
