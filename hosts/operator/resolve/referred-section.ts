import { clusterPlugins, completeKind } from '../kinds/cluster-plugins.ts';
import type { KindDefinition } from '../kinds/kind.ts';
import { contentHash } from '../objects/content-hash.ts';
import { type Context, type Section, serviceUrl } from './context.ts';
import { withoutUndefined } from './strategy.ts';

/** How the outcome of a reference is told. */
export interface ReferenceWords {
  /** The field with the reference. */
  readonly by: string;
  readonly condition: string;
  /** Reasons of the condition: there is no such object, it has a problem, it is valid. */
  readonly reasons: readonly [string, string, string];
  /** Condition, reason and event of problems of what a valid object refers to. Default: the object has a problem. */
  readonly secrets?: readonly [string, string, string];
}

/** The section that an object with settings of a plugin becomes. `undefined`: a check failed. */
export async function referredSection(
  definition: KindDefinition,
  ref: { readonly name: string },
  { by, condition, reasons: [missing, invalid, valid], secrets }: ReferenceWords,
  context: Context,
): Promise<{ readonly section: Section; readonly key: string; readonly hash: string } | undefined> {
  const { name, lookups, findings, pod } = context;
  const { kind } = definition;
  const found = lookups.find(await completeKind(definition), ref.name, by);
  if (found.is !== 'valid') {
    findings.fail(condition, found.is === 'missing' ? missing : invalid, found.message);
    return undefined;
  }
  const plugin = (await clusterPlugins()).find(({ fromCluster }) => fromCluster.kinds?.[kind]);
  const { namespace = context.namespace } = found.object.metadata;
  const use = { server: name, url: serviceUrl(context), namespace, ref };
  const read = await plugin?.fromCluster.kinds?.[kind]?.section(found.spec, use, pod);
  if (read === undefined) throw new Error(`no plugin declares ${kind}`);
  if ('invalid' in read) findings.fail(condition, invalid, `${kind} ${ref.name}: ${read.invalid}`);
  else if ('problem' in read && secrets === undefined) findings.fail(condition, invalid, read.problem);
  else findings.tell(condition, 'True', valid, `${kind} ${ref.name} is valid`);
  if ('problem' in read && secrets !== undefined) findings.fail(secrets[0], secrets[1], read.problem, secrets[2]);
  if (!('section' in read)) return undefined;
  const key = plugin?.contractKey?.split('.').at(-1) ?? '';
  return { section: withoutUndefined(read.section), key, hash: contentHash(found.object.spec) };
}
