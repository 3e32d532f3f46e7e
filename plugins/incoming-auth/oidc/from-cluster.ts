import {
  caBundleRef,
  type FromCluster,
  httpUrl,
  kube,
  onlyWithType,
  type PodReferences,
  type ReadSettings,
  type SettingsKind,
  secretKeyRef,
  text,
} from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';

const kubernetesServiceAccount = z.strictObject({
  serviceAccount: text(253).optional().describe('service account whose tokens are accepted; default: all'),
  namespace: text(63).optional().describe('its namespace; default: that of this object'),
  issuer: httpUrl.default('https://kubernetes.default.svc').describe('issuer of the cluster'),
  jwksUrl: httpUrl.optional().describe('URL of the keys; default: from the discovery document'),
  introspectionUrl: httpUrl.optional().describe('token introspection endpoint (RFC 7662)'),
  useClusterAuth: z
    .boolean()
    .default(true)
    .describe('reach the issuer with the CA certificate and the token of the service account of the pod'),
});

const inline = z.strictObject({
  issuer: httpUrl.describe('issuer of the tokens'),
  jwksUrl: httpUrl.optional().describe('URL of the keys; default: from the discovery document'),
  introspectionUrl: httpUrl.optional().describe('token introspection endpoint (RFC 7662), for opaque tokens'),
  clientId: text(2048).optional().describe('client id for introspection'),
  clientSecretRef: secretKeyRef.optional().describe('client secret, in a Secret of the same namespace'),
  caBundleRef: caBundleRef.optional(),
  jwksAuthTokenPath: text(4096).optional().describe('file with a bearer token for the key requests'),
  jwksAllowPrivateIP: z.boolean().default(false).describe('allow private addresses of the issuer'),
  protectedResourceAllowPrivateIP: z.boolean().default(false).describe('allow private addresses of the issuer'),
  insecureAllowHTTP: z.boolean().default(false).describe('allow http URLs, for development'),
});

const spec = kube(
  z.strictObject({
    type: z.enum(['kubernetesServiceAccount', 'inline']).describe('which of the two members is set'),
    kubernetesServiceAccount: kubernetesServiceAccount.optional().describe('tokens of service accounts of the cluster'),
    inline: inline.optional().describe('any issuer'),
  }),
  {
    rules: [
      {
        rule: "self.type == 'kubernetesServiceAccount' || !has(self.kubernetesServiceAccount)",
        message: 'kubernetesServiceAccount must be absent unless type is kubernetesServiceAccount',
        fieldPath: '.kubernetesServiceAccount',
        reason: 'FieldValueForbidden',
      },
      onlyWithType('inline'),
    ],
  },
);

type Spec = z.output<typeof spec>;

/** What the reference says beside the name. */
interface Reference {
  readonly audience: string;
  readonly scopes: readonly string[];
  readonly resourceUrl?: string;
}

/** Audience and scopes are part of the reference, so that servers share issuers and no tokens. */
const section: SettingsKind['section'] = async (given: Spec, { namespace, url, ref }, pod) => {
  const { audience, scopes, resourceUrl: resource = url } = ref as Reference;
  const provider =
    given.type === 'inline'
      ? await inlineProvider(given.inline, pod)
      : { section: clusterProvider(given.kubernetesServiceAccount, namespace) };
  if (!('section' in provider)) return provider;
  const { clientId = audience } = provider.section;
  return { section: { ...provider.section, clientId, audience, scopes, resource } };
};

/** Where Kubernetes mounts the token of the service account and the CA of the cluster. */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

function clusterProvider(
  given: Spec['kubernetesServiceAccount'] = kubernetesServiceAccount.parse({}),
  namespace: string,
): Readonly<Record<string, unknown>> {
  const { issuer, jwksUrl, introspectionUrl, useClusterAuth, serviceAccount, namespace: of = namespace } = given;
  const cluster = useClusterAuth
    ? {
        caBundlePath: `${SERVICE_ACCOUNT}/ca.crt`,
        jwksAuthTokenFile: `${SERVICE_ACCOUNT}/token`,
        jwksAllowPrivateIp: true,
      }
    : {};
  return {
    issuer,
    jwksUrl,
    introspectionUrl,
    ...cluster,
    requiredSubject: serviceAccount === undefined ? undefined : `system:serviceaccount:${of}:${serviceAccount}`,
  };
}

async function inlineProvider(given: Spec['inline'], pod: PodReferences): Promise<ReadSettings> {
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
    section: {
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
    },
  };
}

const reference: SettingsKind['reference'] = {
  by: 'spec.incomingAuth.oidcConfigRef',
  condition: 'OIDCConfigRefValidated',
  reasons: ['OIDCConfigRefNotFound', 'OIDCConfigRefNotValid', 'OIDCConfigRefValid'],
  secrets: ['AuthConfigured', 'AuthInvalid', 'SecretValidationFailed'],
};

export const kinds: FromCluster['kinds'] = { MCPOIDCConfig: { spec, reference, section } };
