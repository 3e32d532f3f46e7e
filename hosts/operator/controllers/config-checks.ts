import { type Catalogue, explainIssues, fieldPath, isObject } from '@toolmgr/core';
import { type KubeObject, keyOf, type Resource, type ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import { sectionsProblems } from '../../vmcp/section-problems.ts';
import { isIn, sectionsOf } from '../../vmcp/sections.ts';
import { completeKind } from '../kinds/cluster-plugins.ts';
import type { KindDefinition } from '../kinds/kind.ts';
import { mcpAuthzConfig } from '../kinds/mcp-authz-config.ts';
import { mcpExternalAuthConfig } from '../kinds/mcp-external-auth-config.ts';
import { mcpOidcConfig } from '../kinds/mcp-oidc-config.ts';
import { mcpTelemetryConfig } from '../kinds/mcp-telemetry-config.ts';
import { mcpToolConfig } from '../kinds/mcp-tool-config.ts';
import { virtualMcpServer } from '../kinds/virtual-mcp-server.ts';
import { conditionsOf } from '../resolve/auth-server.ts';
import type { Context } from '../resolve/context.ts';
import { createFindings } from '../resolve/findings.ts';
import { incomingAuthOf } from '../resolve/incoming-auth.ts';
import { createLookups } from '../resolve/lookups.ts';
import { createPodParts } from '../resolve/pod-parts.ts';
import type { Related } from '../resolve/related.ts';
import { convertExternalAuth, inFile } from '../resolve/strategy.ts';
import { telemetryOf } from '../resolve/telemetry.ts';
import type { ConfigKind, ConfigProblem } from './config-kinds.ts';

/** A part of a vmcp file that uses a configuration, or why there is none. */
type Converted = { readonly file: Readonly<Record<string, unknown>> } | ConfigProblem;

/**
 * The kinds of configurations. Each is converted as for a VirtualMCPServer that uses it, and the result is checked by the plugins
 * that read it. What else the server says, secrets and config maps are not part of the check.
 */
export const CONFIG_KINDS: readonly ConfigKind[] = [
  configKind(mcpOidcConfig, async (object) => {
    const oidcConfigRef = { name: keyOf(object).name, audience: 'check' };
    return viaServer(object, { incomingAuth: { type: 'oidc', oidcConfigRef } }, async (context) => ({
      incomingAuth: (await incomingAuthOf(context))?.section,
    }));
  }),
  configKind(mcpAuthzConfig, async (object) => {
    const authzConfigRef = { name: keyOf(object).name };
    return viaServer(object, { incomingAuth: { type: 'anonymous', authzConfigRef } }, async (context) => ({
      incomingAuth: (await incomingAuthOf(context))?.section,
    }));
  }),
  configKind(mcpTelemetryConfig, async (object) => {
    const telemetryConfigRef = { name: keyOf(object).name };
    return viaServer(object, { telemetryConfigRef }, async (context) => ({
      telemetry: (await telemetryOf(context))?.section,
    }));
  }),
  configKind(mcpToolConfig, async ({ spec }) => {
    const { toolsFilter: filter, toolsOverride: overrides } = mcpToolConfig.spec.parse(spec);
    const tool = {
      workload: 'any',
      ...(filter === undefined ? {} : { filter }),
      ...(overrides === undefined ? {} : { overrides }),
    };
    return { file: { aggregation: { tools: [tool] } } };
  }),
  {
    ...configKind(mcpExternalAuthConfig, async (object) => {
      const spec = (await completeKind(mcpExternalAuthConfig)).spec.parse(object.spec);
      if (spec.type === 'embeddedAuthServer') return { file: { authServerConfig: spec.embeddedAuthServer } };
      const converted = await convertExternalAuth(spec, {
        upstreams: undefined,
        allowed: [],
        withoutInjection: false,
        nameSecret: async (prefix) => ({ name: prefix }),
      });
      if ('strategy' in converted) return { file: { outgoingAuth: { default: inFile(converted.strategy) } } };
      const reason = converted.reason === 'EnterpriseRequired' ? 'EnterpriseRequired' : 'ValidationFailed';
      return { reason, message: `spec.${converted.message}` };
    }),
    more: async ({ spec }) => {
      const server = isObject(spec) ? spec.embeddedAuthServer : undefined;
      return isObject(server) ? conditionsOf(server) : [];
    },
  },
];

function configKind(kind: KindDefinition, convert: (object: Resource) => Promise<Converted>): ConfigKind {
  return {
    kind: kind.kind,
    async check(object) {
      const { spec } = await completeKind(kind);
      const read = spec.safeParse(object.spec);
      if (!read.success) {
        const message = shown(explainIssues('spec', spec, read.error));
        return { reason: 'ValidationFailed', message };
      }
      const converted = await convert(object);
      if ('reason' in converted) return converted;
      const { catalogue } = await import('@toolmgr/plugins');
      return problemOf(converted.file, catalogue);
    },
  };
}

async function problemOf(file: object, catalogue: Catalogue): Promise<ConfigProblem | undefined> {
  const sections = await sectionsOf(catalogue, (section) => isIn(file, section));
  const problems = await sectionsProblems(file, sections, catalogue);
  if (problems.length === 0) return undefined;
  const sentences = problems.map(({ path, message }) => `${fieldPath(path)}: ${message}`);
  return { reason: 'InvalidConfig', message: shown(sentences) };
}

/** Converts with a server that has nothing but the configuration. */
async function viaServer(
  object: Resource,
  spec: object,
  convert: (context: Context) => Promise<Readonly<Record<string, unknown>>>,
): Promise<Converted> {
  const { namespace } = keyOf(object);
  const findings = createFindings(0, []);
  const lookups = createLookups(onlyRelated(object));
  const server = virtualMcpServer.spec.parse({
    groupRef: { name: 'any' },
    incomingAuth: { type: 'anonymous' },
    ...spec,
  });
  const context = {
    name: 'any',
    namespace,
    spec: server,
    lookups,
    findings,
    pod: createPodParts(lookups),
    defaults: {},
  };
  const file = await convert(context);
  const { outcome } = findings.result();
  return outcome.result === 'ready' ? { file } : { reason: 'ValidationFailed', message: outcome.message };
}

/** One object without what its controller has said; every key of every secret and config map. */
function onlyRelated({ status: _, ...object }: Resource): Related {
  return {
    get: <T extends KubeObject>({ kind }: ResourceType<T>) =>
      kind === object.kind ? (object as unknown as T) : undefined,
    members: () => ({ servers: [], entries: [], proxies: [] }),
    sharing: () => [],
    configMap: async () => anyKey(ANY_CERTIFICATE),
    secret: async () => anyKey({ hash: '', bytes: 32 }),
  };
}

/** A record that has every key. */
function anyKey<T>(value: T): Readonly<Record<string, T>> {
  return new Proxy<Record<string, T>>(
    {},
    {
      get: () => value,
      getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true, value, writable: false }),
    },
  );
}

const ANY_CERTIFICATE = '-----BEGIN CERTIFICATE-----\n-\n-----END CERTIFICATE-----';

/** The status of an object is small. */
const MAX_SENTENCES = 50;
const MAX_SENTENCE = 1_000;

function shown(sentences: readonly string[]): string {
  const first = sentences
    .slice(0, MAX_SENTENCES)
    .map((each) => (each.length > MAX_SENTENCE ? `${each.slice(0, MAX_SENTENCE)}…` : each));
  const others = sentences.length - first.length;
  return [...first, ...(others === 0 ? [] : [`and ${others} more`])].join('\n');
}
