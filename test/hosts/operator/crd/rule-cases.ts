import { AUTH_SERVER_CASES, OIDC_PROVIDER } from './auth-server-cases.ts';
import { CONFIG_CASES } from './config-cases.ts';
import { BUCKET, OIDC_REF, REDIS, type RuleCase, SECRET, SERVER_CASES, type Spec } from './server-cases.ts';

const SERVICE_ACCOUNT = { type: 'kubernetesServiceAccount' };
const ROLE = 'arn:aws:iam::123456789012:role/tools';
const sts = (changes: Spec): Spec => ({ type: 'awsSts', awsSts: { region: 'eu-central-1', ...changes } });
const TELEMETRY = { endpoint: 'collector:4318', tracing: { enabled: true } };
const telemetry = (changes: Spec): Spec => ({ openTelemetry: { ...TELEMETRY, ...changes } });

const OPTIONS: Readonly<Record<string, object>> = {
  tokenExchange: { tokenUrl: 'https://sts.example.com/token', audience: 'backend' },
  headerInjection: { headerName: 'X-Api-Key', valueSecretRef: SECRET },
  bearerToken: { tokenSecretRef: SECRET },
  embeddedAuthServer: { issuer: 'https://auth.example.com', upstreamProviders: [OIDC_PROVIDER] },
  awsSts: { region: 'eu-central-1', fallbackRoleArn: ROLE },
  upstreamInject: { providerName: 'idp' },
  obo: {},
  xaa: {
    idpTokenUrl: 'https://idp.example.com/token',
    targetTokenUrl: 'https://target.example.com/token',
    targetAudience: 'https://target.example.com',
  },
};

const configurations: readonly RuleCase[] = [
  ...Object.entries(OPTIONS).map(([type, options]) => ({
    kind: 'MCPExternalAuthConfig',
    says: `${type} must be set when type is ${type}, and only then`,
    at: `spec.${type}`,
    accepts: { type, [type]: options },
    refuses: { type: 'unauthenticated', [type]: options },
  })),
  {
    kind: 'MCPExternalAuthConfig',
    says: 'fallbackRoleArn or roleMappings must be set',
    at: 'spec.awsSts.fallbackRoleArn',
    accepts: sts({ roleMappings: [{ claim: 'admins', roleArn: ROLE }] }),
    refuses: sts({ roleMappings: [] }),
  },
  {
    kind: 'MCPExternalAuthConfig',
    says: 'exactly one of claim and matcher must be set',
    at: 'spec.awsSts.roleMappings[0].claim',
    accepts: sts({ roleMappings: [{ matcher: '"a" in claims.groups', roleArn: ROLE }] }),
    refuses: sts({ roleMappings: [{ roleArn: ROLE }] }),
  },
  {
    kind: 'MCPOIDCConfig',
    says: 'inline must be set when type is inline, and only then',
    at: 'spec.inline',
    accepts: { type: 'inline', inline: { issuer: 'https://idp.example.com' } },
    refuses: { type: 'inline' },
  },
  {
    kind: 'MCPOIDCConfig',
    says: 'kubernetesServiceAccount must be absent unless type is kubernetesServiceAccount',
    at: 'spec.kubernetesServiceAccount',
    accepts: SERVICE_ACCOUNT,
    refuses: { type: 'inline', inline: { issuer: 'https://idp.example.com' }, kubernetesServiceAccount: {} },
  },
  {
    kind: 'MCPTelemetryConfig',
    says: 'a header must not be in both headers and sensitiveHeaders',
    at: 'spec.openTelemetry.sensitiveHeaders',
    accepts: telemetry({ headers: { a: 'b' }, sensitiveHeaders: [{ name: 'key', secretKeyRef: SECRET }] }),
    refuses: telemetry({ headers: { key: 'b' }, sensitiveHeaders: [{ name: 'key', secretKeyRef: SECRET }] }),
  },
  {
    kind: 'MCPTelemetryConfig',
    says: 'endpoint needs tracing.enabled or metrics.enabled',
    at: 'spec.openTelemetry.endpoint',
    accepts: telemetry({ tracing: undefined, metrics: { enabled: true } }),
    refuses: telemetry({ tracing: { enabled: false } }),
  },
  {
    kind: 'MCPTelemetryConfig',
    says: 'caBundleRef has no effect with insecure',
    at: 'spec.openTelemetry.caBundleRef',
    accepts: telemetry({ caBundleRef: { configMapRef: { name: 'ca' } } }),
    refuses: telemetry({ insecure: true, caBundleRef: { configMapRef: { name: 'ca' } } }),
  },
  {
    kind: 'MCPServer',
    says: 'name must be none or network when type is builtin',
    at: 'spec.permissionProfile.name',
    accepts: { image: 'a', permissionProfile: { name: 'network' } },
    refuses: { image: 'a', permissionProfile: { name: 'all' } },
  },
  {
    kind: 'MCPServer',
    says: 'key must be set when type is configmap, and only then',
    at: 'spec.permissionProfile.key',
    accepts: { image: 'a', permissionProfile: { type: 'configmap', name: 'profiles', key: 'a' } },
    refuses: { image: 'a', permissionProfile: { type: 'configmap', name: 'profiles' } },
  },
  ...[
    { kind: 'MCPServer', base: { image: 'a' } },
    { kind: 'MCPRemoteProxy', base: { remoteUrl: 'https://mcp.example.com' } },
  ].flatMap(({ kind, base }) => [
    {
      kind,
      says: 'authzConfig and authzConfigRef are mutually exclusive',
      at: 'spec.authzConfigRef',
      accepts: { ...base, authzConfigRef: { name: 'a' } },
      refuses: { ...base, authzConfigRef: { name: 'a' }, authzConfig: { configMap: { name: 'a' } } },
    },
    {
      kind,
      says: 'rateLimiting needs sessionStorage with provider redis',
      at: 'spec.rateLimiting',
      accepts: { ...base, rateLimiting: { shared: BUCKET }, sessionStorage: REDIS },
      refuses: { ...base, rateLimiting: { shared: BUCKET } },
    },
    {
      kind,
      says: 'perUser limits need oidcConfigRef',
      at: 'spec.rateLimiting',
      accepts: { ...base, rateLimiting: { perUser: BUCKET }, sessionStorage: REDIS, oidcConfigRef: OIDC_REF },
      refuses: { ...base, rateLimiting: { perUser: BUCKET }, sessionStorage: REDIS },
    },
  ]),
];

/** Every rule between fields, with an accepted and a refused spec. */
export const RULE_CASES: readonly RuleCase[] = [
  ...SERVER_CASES,
  ...CONFIG_CASES,
  ...AUTH_SERVER_CASES,
  ...configurations,
];
