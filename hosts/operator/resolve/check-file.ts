import { createHash } from 'node:crypto';
import { definePlugin, fieldPath, missingPackage } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { z } from 'zod';
import type { Problem } from '../../vmcp/problem.ts';
import { examineConfig } from '../../vmcp/read-config.ts';
import { clusterPlugins } from '../kinds/cluster-plugins.ts';
import type { ClusterPlugin } from '../kinds/kind.ts';
import type { BaseFile } from './base-file.ts';
import type { Context } from './context.ts';

/** The catalogue with modules that are asked for once: an import of a loaded module still takes 0.1 ms, and a file needs fifty. */
const loadedOnce: typeof catalogue = Object.fromEntries(
  Object.entries(catalogue).map(([address, entry]) => [
    address,
    typeof entry === 'function'
      ? once(orUnchecked(address, entry))
      : {
          ...entry,
          load: once(orUnchecked(address, entry.load)),
          ...(entry.contract && { contract: once(entry.contract) }),
        },
  ]),
);

type Load = Extract<(typeof catalogue)[string], () => unknown>;

/**
 * A plugin that accepts every configuration, where an optional package is not installed: pods run the image, which has all packages.
 */
function orUnchecked(address: string, load: Load): Load {
  return () =>
    load().catch((cause: unknown) => {
      if (missingPackage(cause) === undefined) throw cause;
      const summary = 'stands for a plugin that cannot be loaded here';
      return { default: definePlugin({ address, stability: 'stable', summary, config: z.unknown(), apply() {} }) };
    });
}

/** Repeats nothing but failures. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((cause) => {
      loading = undefined;
      throw cause;
    });
    return loading;
  };
}

/** What a check of a file found. */
export type CheckedFile =
  | { readonly problems: readonly Problem[] }
  | { readonly problems?: undefined; readonly warnings: readonly Problem[] };

/** Files whose result is kept: most reconciles are about unchanged ones, and a check takes milliseconds. */
const MAX_KEPT = 4096;
const kept = new Map<string, CheckedFile>();

/**
 * Checks a vmcp file as `vmcp serve` does, but loads no plugin that is not of the catalogue: it would run code of the author of the
 * object. Keys without a value are absent, as in YAML.
 */
export async function checkFile(file: unknown): Promise<CheckedFile> {
  const text = JSON.stringify(file);
  const id = createHash('sha256').update(text).digest('base64');
  const known = kept.get(id);
  if (known !== undefined) {
    kept.delete(id); // it becomes the newest
    kept.set(id, known);
    return known;
  }
  const { problems, warnings } = await examined(text);
  const checked = problems === undefined ? { warnings } : { problems };
  kept.set(id, checked);
  const [oldest] = kept.keys();
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  return checked;
}

async function examined(text: string): Promise<{ problems?: readonly Problem[]; warnings: readonly Problem[] }> {
  const found = await examineConfig(JSON.parse(text), 'config.yaml', loadedOnce);
  return found.problems === undefined ? { warnings: found.warnings } : { problems: found.problems, warnings: [] };
}

/** Reports problems of the file with the conditions of the parts that they are about. */
export async function tellProblems(
  problems: readonly Problem[],
  base: BaseFile,
  { spec, findings }: Context,
): Promise<void> {
  const plugins = await clusterPlugins();
  for (const { path, message } of problems) {
    const { type, reason, event, field } = blame(path, base, spec, plugins);
    findings.fail(type, reason, `${field}: ${message}`, event);
  }
}

interface Blame {
  readonly type: string;
  readonly reason: string;
  readonly event?: string;
  readonly field: string;
}

function blame(
  path: Problem['path'],
  { compositeRefs }: BaseFile,
  spec: Context['spec'],
  plugins: readonly ClusterPlugin[],
): Blame {
  const [section, second] = path;
  const written = fieldPath(path);
  if (section === 'authServerConfig') {
    return { type: 'AuthServerConfigValidated', reason: 'AuthServerConfigInvalid', field: `spec.${written}` };
  }
  const settings = plugins.find(({ contractKey }) => contractKey !== undefined && isBelow(path, contractKey));
  const [kind] = Object.values(settings?.fromCluster.kinds ?? {});
  if (kind !== undefined) {
    const { by, condition, reasons } = kind.reference;
    return { type: condition, reason: reasons[1], field: `${by} (${written})` };
  }
  if (section === 'incomingAuth' && second === 'authz') return blameAuthz(written, spec);
  const ref = section === 'compositeTools' && typeof second === 'number' ? compositeRefs.get(second) : undefined;
  if (ref !== undefined) {
    const field = `VirtualMCPCompositeToolDefinition ${ref} (${fieldPath(path.slice(2))})`;
    return { type: 'CompositeToolRefsValidated', reason: 'CompositeToolRefInvalid', field };
  }
  return {
    type: 'Valid',
    reason: 'ValidationFailed',
    field: written === '' ? 'spec.config' : `spec.config.${written}`,
  };
}

function isBelow(path: Problem['path'], key: string): boolean {
  return key.split('.').every((each, at) => each === path[at]);
}

function blameAuthz(written: string, { incomingAuth: { authzConfig, authzConfigRef } }: Context['spec']): Blame {
  if (authzConfigRef !== undefined) {
    const field = `MCPAuthzConfig ${authzConfigRef.name} (${written})`;
    return { type: 'AuthzConfigRefValidated', reason: 'AuthzConfigRefNotValid', field };
  }
  const reason = 'AuthzConfigMapInvalid';
  if (authzConfig?.type === 'configMap') {
    const field = `config map ${authzConfig.configMap?.name ?? ''} (${written})`;
    return { type: 'AuthConfigured', reason, event: reason, field };
  }
  return { type: 'Valid', reason: 'ValidationFailed', field: `spec.incomingAuth.authzConfig (${written})` };
}
