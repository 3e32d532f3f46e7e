import { explainIssues } from '@toolmgr/core';
import { mcpGroup } from '../kinds/mcp-group.ts';
import { type VirtualMcpServer, virtualMcpServer } from '../kinds/virtual-mcp-server.ts';
import { resolveBackends } from './backends.ts';
import { type BaseFile, baseFileOf } from './base-file.ts';
import { tellProblems } from './check-file.ts';
import { checkUniqueValues } from './check-unique-values.ts';
import type { Context, ServerSpec } from './context.ts';
import { createFindings } from './findings.ts';
import { type CheckedBackends, checkBackends, writtenBackends } from './group-backends.ts';
import { createLookups } from './lookups.ts';
import { candidatesOf } from './members.ts';
import { pluginsProblem, tellOwnPlugins } from './own-plugins.ts';
import { podInputsOf } from './pod-inputs.ts';
import { createPodParts } from './pod-parts.ts';
import { podTemplateProblem } from './pod-template.ts';
import type { Defaults, Related } from './related.ts';
import type { EffectiveBackend, Resolution } from './resolution.ts';
import { tooDeep } from './spec-size.ts';

/**
 * Resolves a VirtualMCPServer with everything that it refers to. Pure but for the lookups.
 *
 * Order of checks and their reasons: the first failed check decides the outcome, the others are reported too.
 * @throws what a lookup throws: nothing is known then, so reconcile again
 */
export async function resolveServer(
  server: VirtualMcpServer,
  related: Related,
  defaults: Defaults = {},
): Promise<Resolution> {
  const { name, namespace = 'default', generation = 1 } = server.metadata;
  const findings = createFindings(generation, server.status?.conditions ?? []);
  const lookups = createLookups(related);
  const refused = (message: string): Resolution => {
    findings.fail('Valid', 'ValidationFailed', message);
    return { ...findings.result(), hashes: {}, effective: [], imagePullSecrets: [], references: lookups.references() };
  };
  const deep = tooDeep(server.spec);
  if (deep !== undefined) return refused(deep);
  const read = virtualMcpServer.spec.safeParse(server.spec);
  if (!read.success) return refused(explainIssues('spec', virtualMcpServer.spec, read.error).join('; '));
  const spec: ServerSpec = read.data;
  const unread = pluginsProblem(spec);
  if (unread !== undefined) return refused(unread);
  const context: Context = { name, namespace, spec, lookups, findings, pod: createPodParts(lookups), defaults };
  checkName(context);
  checkPodTemplate(context);
  tellOwnPlugins(context);
  const members = checkGroup(context) ? related.members(spec.groupRef.name) : undefined;
  const base = await baseFileOf(context);
  checkUniqueValues(server, related, context);
  const backends = base === undefined || members === undefined ? undefined : await backendsOf(members, base, context);
  const pod =
    findings.hasFailed || base === undefined || backends === undefined
      ? undefined
      : await podInputsOf(base, backends, context);
  tellSuccesses(context);
  return {
    ...findings.result(),
    hashes: base?.hashes ?? {},
    effective: effectiveOf(backends),
    imagePullSecrets: pullSecretsOf(context),
    references: lookups.references(),
    ...(pod === undefined || findings.hasFailed ? {} : { pod }),
  };
}

/** A Service is named `vmcp-NAME`, and a label holds the name. */
const SERVICE_NAME = /^[a-z0-9]([-a-z0-9]{0,56}[a-z0-9])?$/;

function checkName({ name, findings }: Context): void {
  if (SERVICE_NAME.test(name)) return;
  const message =
    'metadata.name: expected a DNS label of at most 58 characters (lower-case letters, digits and "-"), because the Service is named vmcp-NAME';
  findings.fail('Valid', 'ValidationFailed', message);
}

function checkPodTemplate({ spec, findings }: Context): void {
  if (spec.podTemplateSpec === undefined) return;
  const problem = podTemplateProblem(spec.podTemplateSpec);
  if (problem === undefined) {
    findings.tell('PodTemplateSpecValid', 'True', 'ValidPodTemplateSpec', 'spec.podTemplateSpec is valid');
  } else {
    const reason = 'InvalidPodTemplateSpec';
    findings.fail('PodTemplateSpecValid', reason, `spec.podTemplateSpec${problem}`, reason);
  }
}

const GROUP_CONDITION = 'GroupRefValidated';

function checkGroup({ spec, lookups, findings }: Context): boolean {
  const { name } = spec.groupRef;
  const found = lookups.find(mcpGroup, name, 'spec.groupRef');
  if (found.is !== 'valid') {
    findings.fail(GROUP_CONDITION, found.is === 'missing' ? 'GroupRefNotFound' : 'GroupRefNotReady', found.message);
    return false;
  }
  const { phase } = found.object.status ?? {};
  if (phase !== 'Ready') {
    findings.wait(GROUP_CONDITION, 'GroupRefNotReady', `spec.groupRef: MCPGroup ${name} is not ready yet`);
    return false;
  }
  findings.tell(GROUP_CONDITION, 'True', 'GroupRefValid', `MCPGroup ${name} is ready`);
  return true;
}

async function backendsOf(
  members: ReturnType<Related['members']>,
  base: BaseFile,
  context: Context,
): Promise<CheckedBackends> {
  const { spec, findings } = context;
  const { candidates, conflicts } = candidatesOf(members);
  if (conflicts.length > 0) {
    const texts = conflicts.map(({ name, winner, losers }) => `${name}: ${winner} is used, not ${losers.join(', ')}`);
    findings.tell(
      'BackendNameConflict',
      'True',
      'NamesNotUnique',
      `several members have one name: ${texts.join('; ')}`,
    );
  }
  const names = new Set(candidates.map(({ name }) => name));
  for (const [index, written] of writtenBackends(context).entries()) {
    const { name } = written as { readonly name?: unknown };
    if (typeof name === 'string' && names.has(name)) continue;
    const message = `spec.config.backends[${index}].name: no member of MCPGroup ${spec.groupRef.name} is named ${String(name)}`;
    findings.fail('Valid', 'ValidationFailed', message);
  }
  const upstreams = spec.authServerConfig?.upstreamProviders.map(({ name }) => name);
  const resolved = await resolveBackends(candidates, context, { upstreams, allowed: allowedPlugins(spec) });
  const checked = await checkBackends(resolved, base, context);
  await tellProblems(checked.problems, base, context);
  tellBackends(checked, context);
  return checked;
}

/** Addresses in `spec.config.plugins` with `allow: true`. */
function allowedPlugins({ config }: ServerSpec): readonly string[] {
  const plugins: readonly unknown[] = Array.isArray(config?.plugins) ? config.plugins : [];
  return plugins.flatMap((each) => {
    const { use, with: options } = each as { readonly use: string; readonly with?: { readonly allow?: unknown } };
    return options?.allow === true ? [use] : [];
  });
}

const MAX_LISTED = 50;

function tellBackends({ served, leftOut }: CheckedBackends, { spec, findings }: Context): void {
  const texts = leftOut.slice(0, MAX_LISTED).map(({ candidate, problem }) => `${candidate.name}: ${problem}`);
  const more = leftOut.length > MAX_LISTED ? `, and ${leftOut.length - MAX_LISTED} more` : '';
  const rest = leftOut.length === 0 ? '' : `; left out: ${texts.join('; ')}${more}`;
  const message = `${served.length} ${served.length === 1 ? 'backend' : 'backends'}${rest}`;
  if (served.length === 0 && spec.outgoingAuth?.source === 'inline') {
    const none = `source inline needs at least one backend; ${message}`;
    findings.wait('BackendsDiscovered', 'BackendDiscoveryFailed', none);
    return;
  }
  findings.tell('BackendsDiscovered', 'True', 'BackendsDiscoveredSuccessfully', message);
}

/** Conditions of checks that found nothing. */
function tellSuccesses({ spec, findings }: Context): void {
  const told = new Set(findings.result().conditions.map(({ type }) => type));
  const succeed = (type: string, reason: string, message: string): void => {
    if (!told.has(type)) findings.tell(type, 'True', reason, message);
  };
  succeed('Valid', 'ValidationSucceeded', 'the spec is valid');
  succeed('AuthConfigured', 'AuthValid', 'authentication and authorization are configured');
  if (spec.authServerConfig !== undefined) {
    succeed('AuthServerConfigValidated', 'AuthServerConfigValid', 'spec.authServerConfig is valid');
  }
}

function effectiveOf(backends: CheckedBackends | undefined): readonly EffectiveBackend[] {
  const all = [...(backends?.served ?? []), ...(backends?.leftOut ?? [])];
  return all
    .sort((a, b) => (a.candidate.name < b.candidate.name ? -1 : 1))
    .map(({ candidate: { name, url }, strategy, authConfigRef, problem }) => ({
      name,
      ...(url === undefined ? {} : { url }),
      ...(problem === undefined ? { authType: strategy?.type ?? 'unauthenticated' } : { problem }),
      ...(authConfigRef === undefined ? {} : { authConfigRef }),
    }));
}

/** Those of the spec, then those of the installation; each name once. */
function pullSecretsOf({ spec, defaults }: Context): readonly { readonly name: string }[] {
  const names = [...(spec.imagePullSecrets ?? []).map(({ name }) => name), ...(defaults.imagePullSecrets ?? [])];
  return [...new Set(names)].filter((name) => name !== '').map((name) => ({ name }));
}
