import { completeKind } from '../../kinds/cluster-plugins.ts';
import { mcpExternalAuthConfig } from '../../kinds/mcp-external-auth-config.ts';
import type { AuthServerSection } from '../../kinds/virtual-mcp-server.ts';
import { contentHash } from '../../objects/content-hash.ts';
import type { Section } from '../../resolve/context.ts';
import { convertExternalAuth, withoutUndefined } from '../../resolve/strategy.ts';
import type { ProxyContext, ProxyFacts, ProxySpec } from './proxy-context.ts';

const CONDITION = 'ExternalAuthConfigValidated';
const SERVER_CONDITION = 'AuthServerRefValidated';

/** `embeddedAuthServer` of the MCPExternalAuthConfig that `authServerRef` or `externalAuthConfigRef` names. */
export async function authServerConfigOf(
  spec: ProxySpec,
  context: ProxyContext,
): Promise<AuthServerSection | undefined> {
  const { findings } = context;
  const fail = (reason: string, message: string): undefined => {
    findings.fail(SERVER_CONDITION, reason, message);
  };
  const found = await namedAuthServer(spec, context);
  if (found === undefined) return undefined;
  if ('reason' in found) return fail(found.reason, found.message);
  const { upstreamProviders } = found.config;
  if (upstreamProviders.length > 1) {
    const message = `the authorization server has ${upstreamProviders.length} upstream providers; a proxy has one`;
    return fail('MultiUpstreamNotSupported', message);
  }
  if (spec.oidcConfigRef === undefined) {
    return fail('AuthServerRefInvalid', 'an authorization server needs spec.oidcConfigRef, which accepts its tokens');
  }
  findings.tell(SERVER_CONDITION, 'True', 'AuthServerRefValid', 'the authorization server is valid');
  return found.config;
}

type Named = { readonly config: AuthServerSection } | { readonly reason: string; readonly message: string } | undefined;

async function namedAuthServer(
  { authServerRef, externalAuthConfigRef }: ProxySpec,
  { lookups }: ProxyContext,
): Promise<Named> {
  const kind = await completeKind(mcpExternalAuthConfig);
  if (externalAuthConfigRef !== undefined) {
    const found = lookups.find(kind, externalAuthConfigRef.name, 'spec.externalAuthConfigRef');
    const config = found.is === 'valid' ? (found.spec.embeddedAuthServer as AuthServerSection | undefined) : undefined;
    if (config !== undefined && authServerRef === undefined) return { config };
    if (config !== undefined) {
      const message = 'spec.externalAuthConfigRef names an authorization server too; keep one of both';
      return { reason: 'AuthServerRefInvalid', message };
    }
  }
  if (authServerRef === undefined) return undefined;
  const found = lookups.find(kind, authServerRef.name, 'spec.authServerRef');
  if (found.is !== 'valid') {
    const reason = found.is === 'missing' ? 'AuthServerRefNotFound' : 'AuthServerRefInvalid';
    return { reason, message: found.message };
  }
  const { type, embeddedAuthServer: config } = found.spec;
  if (config !== undefined) return { config: config as AuthServerSection };
  return { reason: 'AuthServerRefInvalid', message: `spec.authServerRef: type ${type}, expected embeddedAuthServer` };
}

/** `outgoing_auth` of the run configuration, from `externalAuthConfigRef`. */
export async function outgoingAuthOf(
  { spec, target }: ProxyFacts,
  authServer: AuthServerSection | undefined,
  { lookups, findings, pod }: ProxyContext,
  hashes: Record<string, string>,
): Promise<Section> {
  const ref = spec.externalAuthConfigRef;
  if (ref === undefined) return {};
  const fail = (reason: string, message: string): Section => {
    findings.fail(CONDITION, reason, message);
    return {};
  };
  const found = lookups.find(await completeKind(mcpExternalAuthConfig), ref.name, 'spec.externalAuthConfigRef');
  if (found.is !== 'valid') {
    return fail(found.is === 'missing' ? 'ExternalAuthConfigNotFound' : 'ExternalAuthConfigInvalid', found.message);
  }
  hashes.externalAuthConfigHash = contentHash(found.object.spec);
  const { type } = found.spec;
  const isForRequests = type !== 'embeddedAuthServer' && type !== 'unauthenticated';
  if (isForRequests && target.transport === 'stdio') {
    const message = `spec.externalAuthConfigRef: a stdio server gets no requests with headers, so type ${type} would have no effect; use spec.secrets`;
    return fail('NotSupportedWithStdio', message);
  }
  const converted = isForRequests
    ? await convertExternalAuth(found.spec, {
        upstreams: authServer?.upstreamProviders.map(({ name }) => name),
        allowed: [],
        withoutInjection: false,
        nameSecret: (prefix, key, by) => pod.secretEnv(prefix, ref.name, key, by),
      })
    : undefined;
  if (converted !== undefined && 'reason' in converted) {
    return fail(converted.reason, `MCPExternalAuthConfig ${ref.name}: ${converted.message}`);
  }
  findings.tell(CONDITION, 'True', 'ExternalAuthConfigValid', `MCPExternalAuthConfig ${ref.name} is valid`);
  if (converted === undefined) return {};
  const { type: strategy, options } = converted.strategy;
  return { outgoing_auth: withoutUndefined({ type: strategy, options }) };
}
