import type { z } from 'zod';
import { mcpOidcConfig } from '../kinds/mcp-oidc-config.ts';
import { contentHash } from '../objects/content-hash.ts';
import { authzOf } from './authz.ts';
import { type Context, type Section, serviceUrl } from './context.ts';
import { withoutUndefined } from './strategy.ts';

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

const CONDITION = 'OIDCConfigRefValidated';

async function oidcOf(
  context: Context,
): Promise<{ readonly section: Section; readonly oidcConfigHash: string } | undefined> {
  const { spec, lookups, findings } = context;
  const ref = spec.incomingAuth.oidcConfigRef;
  if (ref === undefined) {
    findings.fail('Valid', 'ValidationFailed', 'spec.incomingAuth.oidcConfigRef: missing, type oidc needs it');
    return undefined;
  }
  const found = lookups.find(mcpOidcConfig, ref.name, 'spec.incomingAuth.oidcConfigRef');
  if (found.is !== 'valid') {
    findings.fail(CONDITION, found.is === 'missing' ? 'OIDCConfigRefNotFound' : 'OIDCConfigRefNotValid', found.message);
    return undefined;
  }
  const provider = await providerOf(found.spec, found.object.metadata.namespace ?? context.namespace, context);
  if ('invalid' in provider) {
    findings.fail(CONDITION, 'OIDCConfigRefNotValid', `MCPOIDCConfig ${ref.name}: ${provider.invalid}`);
    return undefined;
  }
  findings.tell(CONDITION, 'True', 'OIDCConfigRefValid', `MCPOIDCConfig ${ref.name} is valid`);
  if ('problem' in provider) {
    findings.fail('AuthConfigured', 'AuthInvalid', provider.problem, 'SecretValidationFailed');
    return undefined;
  }
  const oidc = withoutUndefined({
    clientId: ref.audience,
    ...provider.section,
    audience: ref.audience,
    scopes: ref.scopes,
    resource: ref.resourceUrl ?? serviceUrl(context),
  });
  return { section: { oidc }, oidcConfigHash: contentHash(found.object.spec) };
}

type Provider = { readonly section: Section } | { readonly problem: string } | { readonly invalid: string };
type Spec = z.output<typeof mcpOidcConfig.spec>;

async function providerOf(spec: Spec, namespace: string, context: Context): Promise<Provider> {
  return spec.type === 'inline'
    ? inlineProvider(spec.inline, context)
    : { section: clusterProvider(spec.kubernetesServiceAccount, namespace) };
}

/** Where Kubernetes mounts the token of the service account and the CA of the cluster. */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

function clusterProvider(given: Spec['kubernetesServiceAccount'] = DEFAULT_CLUSTER, namespace: string): Section {
  const { issuer, jwksUrl, introspectionUrl, useClusterAuth, serviceAccount, namespace: of = namespace } = given;
  const cluster = useClusterAuth
    ? {
        caBundlePath: `${SERVICE_ACCOUNT}/ca.crt`,
        jwksAuthTokenFile: `${SERVICE_ACCOUNT}/token`,
        jwksAllowPrivateIp: true,
      }
    : {};
  return withoutUndefined({
    issuer,
    jwksUrl,
    introspectionUrl,
    ...cluster,
    requiredSubject: serviceAccount === undefined ? undefined : `system:serviceaccount:${of}:${serviceAccount}`,
  });
}

const DEFAULT_CLUSTER = { issuer: 'https://kubernetes.default.svc', useClusterAuth: true };

async function inlineProvider(given: Spec['inline'], { pod }: Context): Promise<Provider> {
  if (given === undefined) return { invalid: 'spec.inline: missing, type inline needs it' };
  const { clientSecretRef, caBundleRef, introspectionUrl } = given;
  // the secret is only sent to the introspection endpoint
  const secret =
    clientSecretRef === undefined || introspectionUrl === undefined
      ? undefined
      : await pod.fixedEnv('TOOLMGR_OIDC_CLIENT_SECRET', clientSecretRef, 'MCPOIDCConfig spec.inline.clientSecretRef');
  if (secret !== undefined && 'problem' in secret) return secret;
  const bundle =
    caBundleRef === undefined
      ? undefined
      : await pod.caFile('oidc-ca', caBundleRef.configMapRef, 'MCPOIDCConfig spec.inline.caBundleRef');
  if (bundle !== undefined && 'problem' in bundle) return bundle;
  return {
    section: withoutUndefined({
      issuer: given.issuer,
      jwksUrl: given.jwksUrl,
      introspectionUrl,
      clientId: given.clientId,
      clientSecretEnv: secret?.name,
      caBundlePath: bundle?.path,
      jwksAuthTokenFile: given.jwksAuthTokenPath,
      insecureAllowHttp: given.insecureAllowHTTP || undefined,
      jwksAllowPrivateIp: given.jwksAllowPrivateIP || undefined,
      protectedResourceAllowPrivateIp: given.protectedResourceAllowPrivateIP || undefined,
    }),
  };
}
