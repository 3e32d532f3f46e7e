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
  const oidc = type === 'oidc' ? await oidcOf(context) : { section: {} };
  const authz = await authzOf(context);
  if (oidc === undefined || authz === undefined) return undefined;
  const { section, primaryUpstream, ...authzHash } = authz;
  return {
    section: { type, ...oidc.section, ...(section === undefined ? {} : { authz: section }) },
    hasPolicies: section !== undefined,
    ...('oidcConfigHash' in oidc ? { oidcConfigHash: oidc.oidcConfigHash } : {}),
    ...authzHash,
    ...(primaryUpstream === undefined ? {} : { primaryUpstream }),
  };
}

async function oidcOf(
  context: Context,
): Promise<{ readonly section: Section; readonly oidcConfigHash: string } | undefined> {
  const ref = context.spec.incomingAuth.oidcConfigRef;
  if (ref === undefined) {
    context.findings.fail('Valid', 'ValidationFailed', 'spec.incomingAuth.oidcConfigRef: missing, type oidc needs it');
    return undefined;
  }
  const read = await referredSection(mcpOidcConfig, ref, context);
  return read && { section: { [read.key]: read.section }, oidcConfigHash: read.hash };
}
