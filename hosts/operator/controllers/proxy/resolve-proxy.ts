import { explainCause } from '@toolmgr/core';
import { readRunConfig } from '@toolmgr/plugins/kit/workloads';
import { checkPlan } from '../../../workloads/planning/check-plan.ts';
import { planFromRun } from '../../../workloads/proxy/plan.ts';
import { mcpToolConfig } from '../../kinds/mcp-tool-config.ts';
import { contentHash } from '../../objects/content-hash.ts';
import { authServerOf } from '../../resolve/auth-server.ts';
import { hashesOf } from '../../resolve/base-file.ts';
import type { Context, ServerSpec } from '../../resolve/context.ts';
import { incomingAuthOf } from '../../resolve/incoming-auth.ts';
import { sorted } from '../../resolve/sorted.ts';
import { withoutUndefined } from '../../resolve/strategy.ts';
import { telemetryOf } from '../../resolve/telemetry.ts';
import { authServerConfigOf, outgoingAuthOf } from './external-auth.ts';
import type { Hashes, ProxyContext, ProxyFacts, ProxySpec } from './proxy-context.ts';
import { sessionsOf } from './proxy-sessions.ts';
import { sectionPlugins } from './section-plugins.ts';

/** A resolved proxy. */
export interface ResolvedProxy {
  /** The run configuration as JSON: `runconfig.json` of the config map. */
  readonly runConfig: string;
  /** Hash of the configuration and of the contents of what it refers to. */
  readonly checksum: string;
}

/** Resolves what the proxies of both kinds share. Nothing when a check failed, which is told. */
export async function resolveProxy(
  facts: ProxyFacts,
  context: ProxyContext,
): Promise<{ readonly resolved?: ResolvedProxy; readonly hashes: Hashes }> {
  const { spec } = facts;
  const hashes: Record<string, string> = {};
  const ownServer = await authServerConfigOf(spec, context);
  const server = asServer(facts, context, ownServer);
  const incoming = await incomingAuthOf(server);
  const authServer = await authServerOf(server, incoming);
  const telemetry = await telemetryOf(server);
  const tools = toolsOf(spec, context, hashes);
  const outgoing = await outgoingAuthOf(facts, ownServer, context, hashes);
  const { rateLimiting, ...sessions } = await sessionsOf(facts, context);
  Object.assign(hashes, hashesOf(incoming, telemetry));
  if (context.findings.hasFailed || incoming === undefined || authServer === undefined || telemetry === undefined) {
    return { hashes };
  }
  const file = { authServerConfig: authServer.section, incomingAuth: incoming.section, telemetry: telemetry.section };
  const plugins = await sectionPlugins({ ...file, rateLimiting });
  const config = withoutUndefined({
    schema_version: 'v0.1.0',
    name: context.name.replaceAll('.', '-'),
    group: spec.groupRef?.name.replaceAll('.', '-'),
    host: '0.0.0.0',
    port: spec.proxyPort,
    ...facts.target,
    endpoint_prefix: spec.endpointPrefix === '' ? undefined : spec.endpointPrefix,
    trust_proxy_headers: spec.trustProxyHeaders || undefined,
    audit_config: spec.audit?.enabled ? { enabled: true, component: context.name } : undefined,
    plugins: plugins.length === 0 ? undefined : plugins,
    ...tools,
    ...outgoing,
    ...sessions,
  });
  const problem = await problemOf(config);
  if (problem !== undefined) {
    context.findings.fail('ConfigurationValid', 'InvalidConfiguration', problem, 'ConfigurationInvalid');
    return { hashes };
  }
  context.findings.tell('ConfigurationValid', 'True', 'ConfigurationValid', 'the configuration of the proxy is valid');
  const runConfig = JSON.stringify(sorted(config), undefined, 2);
  const checksum = contentHash({ runConfig, parts: context.pod.result(), contents: context.pod.contents() });
  return { resolved: { runConfig, checksum }, hashes };
}

/** Why `toolmgr run --from-config` would refuse a configuration. */
async function problemOf(config: unknown): Promise<string | undefined> {
  const read = readRunConfig(JSON.parse(JSON.stringify(config)));
  if ('problems' in read) return read.problems.join('; ');
  try {
    await checkPlan(await planFromRun(read.config, { runId: '' }));
    return undefined;
  } catch (cause) {
    return explainCause(cause);
  }
}

/** The fields in the form in which VirtualMCPServers have them, so that one code reads both. */
function asServer({ spec, url }: ProxyFacts, context: ProxyContext, authServerConfig: unknown): Context {
  const { oidcConfigRef: ref, authzConfig, authzConfigRef, telemetryConfigRef } = spec;
  const oidcConfigRef = ref === undefined ? undefined : { ...ref, resourceUrl: ref.resourceUrl ?? url };
  const incomingAuth = withoutUndefined({
    type: ref === undefined ? 'anonymous' : 'oidc',
    oidcConfigRef,
    authzConfig,
    authzConfigRef,
  });
  const server = withoutUndefined({ incomingAuth, telemetryConfigRef, authServerConfig });
  return { ...context, spec: server as unknown as ServerSpec };
}

function toolsOf(
  { toolConfigRef: ref }: ProxySpec,
  { lookups, findings }: ProxyContext,
  hashes: Record<string, string>,
) {
  if (ref === undefined) return {};
  const found = lookups.find(mcpToolConfig, ref.name, 'spec.toolConfigRef');
  if (found.is !== 'valid') {
    findings.fail(
      'ToolConfigValidated',
      found.is === 'missing' ? 'ToolConfigNotFound' : 'ToolConfigInvalid',
      found.message,
    );
    return {};
  }
  findings.tell('ToolConfigValidated', 'True', 'ToolConfigValid', `MCPToolConfig ${ref.name} is valid`);
  hashes.toolConfigHash = contentHash(found.object.spec);
  const { toolsFilter, toolsOverride } = found.spec;
  return withoutUndefined({ tools_filter: toolsFilter, tools_override: toolsOverride });
}
