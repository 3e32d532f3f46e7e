import { X509Certificate } from 'node:crypto';
import { keyOf, type ObjectKey, type Resource } from '@toolmgr/plugins/kit/kubernetes';
import { typeOfKind } from '../kinds/kind.ts';
import { type McpServerEntry, mcpServerEntry } from '../kinds/mcp-server-entry.ts';
import type { Controller, ReconcileContext } from '../machinery/controller.ts';
import { configMaps, secrets } from '../objects/built-in-kinds.ts';
import { entryUrlProblem } from '../resolve/entry-url.ts';
import { type Contents, contentsOf } from './contents.ts';
import { groupRefCondition } from './group-ref.ts';
import { referrersOfKind, typeNamed } from './references.ts';
import { conditionOf, currentObject, timedConditions, type WantedCondition, writeStatus } from './write-status.ts';

const { kind } = mcpServerEntry;
const TYPE = typeOfKind(mcpServerEntry);

/** Checks entries and what they refer to. Makes no objects. */
export const entryController: Controller<McpServerEntry> = {
  name: kind,
  type: TYPE,
  watches: [
    {
      type: typeNamed('MCPGroup'),
      // a group changes with each of its members: only those members are concerned that see it differently now
      *keysOf(group, caches) {
        const wanted = groupRefCondition(keyOf(group), caches);
        for (const key of referrersOfKind(kind, 'MCPGroup')(group, caches)) {
          const entry = caches.of(TYPE).get(key);
          const seen = entry === undefined ? undefined : conditionOf(entry, wanted.type);
          if (seen === undefined || seen.reason !== wanted.reason || seen.message !== wanted.message) yield key;
        }
      },
    },
    { type: typeNamed('MCPExternalAuthConfig'), keysOf: referrersOfKind(kind, 'MCPExternalAuthConfig') },
    { type: configMaps, keysOf: referrersOfKind(kind, 'ConfigMap') },
    { type: secrets, keysOf: referrersOfKind(kind, 'Secret') },
  ],
  async reconcile(key, context) {
    const entry = currentObject(context, TYPE, key);
    if (entry === undefined) return;
    const found = await checksOf(entry, context);
    const valid = validity(found);
    await writeStatus(context, TYPE, entry, {
      observedGeneration: entry.metadata.generation,
      phase: phaseOf(found),
      conditions: timedConditions(entry, [...found, valid], context.now()),
    });
  },
};

async function checksOf(entry: McpServerEntry, context: ReconcileContext): Promise<readonly WantedCondition[]> {
  const { spec } = entry;
  const { namespace } = keyOf(entry);
  const contents = contentsOf(context);
  const { externalAuthConfigRef, caBundleRef, headerForward } = spec;
  const headers = headerForward?.addHeadersFromSecret ?? [];
  return [
    remoteUrl(spec),
    groupRefCondition({ namespace, name: spec.groupRef.name }, context.caches),
    ...(externalAuthConfigRef === undefined
      ? []
      : [externalAuth({ namespace, name: externalAuthConfigRef.name }, context)]),
    ...(caBundleRef === undefined ? [] : [await caBundle(caBundleRef.configMapRef, namespace, contents)]),
    ...(headers.length === 0 ? [] : [await headerSecrets(headers, namespace, contents)]),
  ];
}

function remoteUrl(spec: McpServerEntry['spec']): WantedCondition {
  const problem = entryUrlProblem(spec);
  return problem === undefined
    ? yes('RemoteURLValidated', 'RemoteURLValid', 'the URL is allowed')
    : no('RemoteURLValidated', 'RemoteURLInvalid', `spec.remoteUrl: ${problem}`);
}

function externalAuth(key: ObjectKey, { caches }: ReconcileContext): WantedCondition {
  const type = 'ExternalAuthConfigValidated';
  const config = caches.of(typeNamed('MCPExternalAuthConfig')).get(key) as Resource | undefined;
  if (config === undefined) {
    return no(type, 'ExternalAuthConfigNotFound', `the namespace has no MCPExternalAuthConfig "${key.name}"`);
  }
  const valid = conditionOf(config, 'Valid');
  if (valid === undefined) {
    return no(type, NOT_CHECKED, `MCPExternalAuthConfig "${key.name}" is not checked yet`);
  }
  if (valid.status !== 'True') {
    return no(type, 'ExternalAuthConfigInvalid', `MCPExternalAuthConfig "${key.name}": ${valid.message}`);
  }
  return yes(type, 'ExternalAuthConfigValid', `MCPExternalAuthConfig "${key.name}" is valid`);
}

async function caBundle(
  { name, key = 'ca.crt' }: { readonly name: string; readonly key?: string | undefined },
  namespace: string,
  contents: Contents,
): Promise<WantedCondition> {
  const type = 'CABundleRefValidated';
  const data = await contents.configMap({ namespace, name });
  if (data === undefined) return no(type, 'CABundleRefNotFound', `the namespace has no ConfigMap "${name}"`);
  const pem = Object.hasOwn(data, key) ? data[key] : undefined;
  if (pem === undefined) return no(type, 'CABundleRefInvalid', `ConfigMap "${name}" has no key "${key}"`);
  if (!hasCertificate(pem)) {
    return no(type, 'CABundleRefInvalid', `ConfigMap "${name}", key "${key}": expected CA certificates as PEM`);
  }
  return yes(type, 'CABundleRefValid', `ConfigMap "${name}" has CA certificates`);
}

async function headerSecrets(
  headers: readonly { readonly headerName: string; readonly valueSecretRef: { name: string; key: string } }[],
  namespace: string,
  contents: Contents,
): Promise<WantedCondition> {
  const type = 'HeaderSecretRefsValidated';
  const missing: string[] = [];
  for (const { headerName, valueSecretRef: ref } of headers) {
    const keys = await contents.secret({ namespace, name: ref.name });
    const header = `header ${JSON.stringify(headerName)}`;
    if (keys === undefined) missing.push(`${header}: the namespace has no Secret "${ref.name}"`);
    else if (!Object.hasOwn(keys, ref.key)) missing.push(`${header}: Secret "${ref.name}" has no key "${ref.key}"`);
  }
  return missing.length === 0
    ? yes(type, 'HeaderSecretRefsValid', 'every header has its Secret')
    : no(type, 'HeaderSecretNotFound', missing.join('\n'));
}

function validity(found: readonly WantedCondition[]): WantedCondition {
  const failed = found.filter(({ status }) => status !== 'True');
  return failed.length === 0
    ? yes('Valid', 'ConfigValid', 'the entry is valid')
    : no('Valid', 'ConfigInvalid', failed.map(({ message }) => message).join('\n'));
}

const NOT_CHECKED = 'ExternalAuthConfigNotReady';
/** Failed checks that pass by themselves: another controller has not finished. */
const WAITING: ReadonlySet<string> = new Set(['GroupRefNotReady', NOT_CHECKED]);

function phaseOf(found: readonly WantedCondition[]): 'Valid' | 'Pending' | 'Failed' {
  const failed = found.filter(({ status }) => status !== 'True');
  if (failed.length === 0) return 'Valid';
  return failed.every(({ reason }) => WAITING.has(reason)) ? 'Pending' : 'Failed';
}

function hasCertificate(pem: string): boolean {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return (
    blocks.length > 0 &&
    blocks.every((block) => {
      try {
        return new X509Certificate(block).serialNumber !== '';
      } catch {
        return false;
      }
    })
  );
}

function yes(type: string, reason: string, message: string): WantedCondition {
  return { type, status: 'True', reason, message };
}

function no(type: string, reason: string, message: string): WantedCondition {
  return { type, status: 'False', reason, message };
}
