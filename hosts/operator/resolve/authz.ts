import { explainCause, explainIssues, isObject } from '@toolmgr/core';
import { inCamelCase } from '@toolmgr/plugins/kit/settings';
import { parse } from 'yaml';
import { z } from 'zod';
import { mcpAuthzConfig } from '../kinds/mcp-authz-config.ts';
import { contentHash } from '../objects/content-hash.ts';
import type { Context, Section } from './context.ts';
import { MAX_BYTES } from './spec-size.ts';
import { withoutUndefined } from './strategy.ts';

/** `incomingAuth.authz` of the vmcp file; no section without policies. */
export interface Authz {
  readonly section?: Section;
  readonly authzConfigHash?: string;
  readonly primaryUpstream?: string;
}

/** Cedar policies as authorization files write them. */
const cedar = z.strictObject({
  policies: z.array(z.string()),
  entities_json: z.string().optional(),
  group_claim_name: z.string().optional(),
  group_entity_type: z.string().optional(),
  primary_upstream_provider: z.string().optional(),
  role_claim_name: z.string().optional(),
});

/** An authorization file. */
const authzFile = z.strictObject({ version: z.string().optional(), type: z.literal('cedarv1'), cedar });

/** Resolves the policies of `spec.incomingAuth`. `undefined`: a check failed. */
export async function authzOf(context: Context): Promise<Authz | undefined> {
  const { authzConfig, authzConfigRef } = context.spec.incomingAuth;
  if (authzConfigRef !== undefined) return fromRef(authzConfigRef.name, context);
  if (authzConfig === undefined) return {};
  const policies = authzConfig.type === 'inline' ? fromInline(context) : await fromConfigMap(context);
  if (policies === undefined) return undefined;
  const { type: _type, configMap: _map, inline: _inline, ...over } = authzConfig;
  return { ...policies, section: { ...policies.section, ...withoutUndefined(over) } };
}

const REF_CONDITION = 'AuthzConfigRefValidated';

function fromRef(name: string, { lookups, findings }: Context): Authz | undefined {
  const by = 'spec.incomingAuth.authzConfigRef';
  const found = lookups.find(mcpAuthzConfig, name, by);
  if (found.is !== 'valid') {
    const reason = found.is === 'missing' ? 'AuthzConfigRefNotFound' : 'AuthzConfigRefNotValid';
    findings.fail(REF_CONDITION, reason, found.message);
    return undefined;
  }
  const { type, config } = found.spec;
  if (type !== 'cedarv1') {
    const message = `${by}: MCPAuthzConfig ${name} has type ${type}; VirtualMCPServer supports only cedarv1`;
    findings.fail(REF_CONDITION, 'AuthzConfigRefNotValid', message);
    return undefined;
  }
  const read = cedar.safeParse(config);
  if (!read.success) {
    const message = `${by}: MCPAuthzConfig ${name}: ${explainIssues('spec.config', cedar, read.error).join('; ')}`;
    findings.fail(REF_CONDITION, 'AuthzConfigRefNotValid', message);
    return undefined;
  }
  findings.tell(REF_CONDITION, 'True', 'AuthzConfigRefValid', `MCPAuthzConfig ${name} is valid`);
  return { ...fromCedar(read.data), authzConfigHash: contentHash(found.object.spec) };
}

function fromInline({ spec, findings }: Context): Authz | undefined {
  const inline = spec.incomingAuth.authzConfig?.inline;
  if (inline === undefined) {
    const message = 'spec.incomingAuth.authzConfig.inline: missing, type inline needs it';
    findings.fail('Valid', 'ValidationFailed', message);
    return undefined;
  }
  const { primaryUpstreamProvider: primaryUpstream, ...settings } = inline;
  const bytes = Object.values(settings)
    .flat()
    .reduce((sum, each) => sum + Buffer.byteLength(each), 0);
  if (bytes > MAX_BYTES) {
    const message = `spec.incomingAuth.authzConfig.inline: ${bytes} bytes, expected at most ${MAX_BYTES}`;
    findings.fail('Valid', 'ValidationFailed', message);
    return undefined;
  }
  if (primaryUpstream !== undefined) {
    const message =
      'spec.incomingAuth.authzConfig.inline.primaryUpstreamProvider is deprecated; use spec.authServerConfig.primaryUpstreamProvider';
    findings.warn('AuthzPrimaryUpstreamProviderDeprecated', message);
  }
  const section = { type: 'cedar', ...settings };
  return { section, ...(primaryUpstream === undefined ? {} : { primaryUpstream }) };
}

async function fromConfigMap({ spec, lookups, findings }: Context): Promise<Authz | undefined> {
  const by = 'spec.incomingAuth.authzConfig.configMap';
  const ref = spec.incomingAuth.authzConfig?.configMap;
  if (ref === undefined) {
    findings.fail('Valid', 'ValidationFailed', `${by}: missing, type configMap needs it`);
    return undefined;
  }
  const fail = (reason: string, message: string): undefined => {
    findings.fail('AuthConfigured', reason, message, reason);
  };
  const found = await lookups.configMap(ref, by);
  if ('problem' in found) return fail('AuthzConfigMapNotFound', found.problem);
  const at = `${by}: ${ref.key} of the config map ${ref.name}`;
  const bytes = Buffer.byteLength(found.text);
  if (bytes > MAX_BYTES) return fail('AuthzConfigMapInvalid', `${at}: ${bytes} bytes, expected at most ${MAX_BYTES}`);
  let given: unknown;
  try {
    given = parse(found.text, { maxAliasCount: 0 });
  } catch (cause) {
    return fail('AuthzConfigMapInvalid', `${at} is no JSON or YAML: ${explainCause(cause)}`);
  }
  if (!isObject(given)) return fail('AuthzConfigMapInvalid', `${at} is no object`);
  const read = authzFile.safeParse(given);
  if (!read.success)
    return fail('AuthzConfigMapInvalid', `${at}: ${explainIssues('', authzFile, read.error).join('; ')}`);
  return fromCedar(read.data.cedar);
}

function fromCedar({ primary_upstream_provider: primaryUpstream, ...given }: z.output<typeof cedar>): Authz {
  const section = { type: 'cedar', ...withoutUndefined(inCamelCase(given) ?? {}) };
  return { section, ...(primaryUpstream ? { primaryUpstream } : {}) };
}
