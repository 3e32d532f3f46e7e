import { mcpOidcConfig } from '../kinds/mcp-oidc-config.ts';
import { authzOf } from './authz.ts';
import type { Context, Section } from './context.ts';
import { referredSection } from './referred-section.ts';

/** `incomingAuth` of the vmcp file and the hashes of the configurations behind it. */
export interface IncomingAuth {
  readonly section: Section;
  readonly oidcConfigHash?: string;
  readonly authzConfigHash?: string;
  /** The upstream provider whose claims the policies read, when they name one. */
  readonly primaryUpstream?: string;
  readonly hasPolicies: boolean;
}

/** Resolves `spec.incomingAuth`. `undefined`: a check failed. */
export async function incomingAuthOf(context: Context): Promise<IncomingAuth | undefined> {
  const { type } = context.spec.incomingAuth;
  const issuer = type === 'oidc' ? await issuerOf(context) : { section: {} };
  const policies = await authzOf(context);
  if (issuer === undefined || policies === undefined) return undefined;
  const { section: authz, ...ofPolicies } = policies;
  return {
    ...issuer,
    ...ofPolicies,
    section: { type, ...issuer.section, ...(authz === undefined ? {} : { authz }) },
    hasPolicies: authz !== undefined,
  };
}

async function issuerOf(context: Context): Promise<Pick<IncomingAuth, 'section' | 'oidcConfigHash'> | undefined> {
  const ref = context.spec.incomingAuth.oidcConfigRef;
  if (ref === undefined) {
    const message = 'spec.incomingAuth.oidcConfigRef: missing, type oidc needs it';
    context.findings.fail('Valid', 'ValidationFailed', message);
    return undefined;
  }
  const read = await referredSection(mcpOidcConfig, ref, context);
  return read && { section: { [read.key]: read.section }, oidcConfigHash: read.hash };
}
