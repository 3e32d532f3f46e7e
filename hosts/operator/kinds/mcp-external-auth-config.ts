import { z } from 'zod';
import { AUTH_SERVER } from './auth-server-rules.ts';
import { configStatus, httpsUrl, httpUrl, int32, kube, ofSection, scopes, secretKeyRef } from './fields.ts';
import { COLUMNS, defineKind, type ObjectOf, type Rule } from './kind.ts';
import type { AuthServerSection } from './virtual-mcp-server.ts';

const audience = z.string().min(1).max(2048);
const clientId = z.string().min(1).max(2048);
const providerName = z.string().min(1).max(63);
const claim = z.string().min(1).max(253);
const headerName = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'expected a header name');

const tokenExchange = z.strictObject({
  tokenUrl: httpUrl.describe('token endpoint'),
  clientId: clientId.optional().describe('client id at the token endpoint'),
  clientSecretRef: secretKeyRef.optional().describe('its secret'),
  audience: audience.describe('audience of the requested token'),
  scopes: scopes.optional().describe('scopes of the requested token'),
  subjectTokenType: z
    .enum([
      'access_token',
      'id_token',
      'jwt',
      'urn:ietf:params:oauth:token-type:access_token',
      'urn:ietf:params:oauth:token-type:id_token',
      'urn:ietf:params:oauth:token-type:jwt',
    ])
    .default('urn:ietf:params:oauth:token-type:access_token')
    .describe('type of the token that is exchanged'),
  externalTokenHeaderName: headerName.optional().describe('header that carries the token; default: Authorization'),
  subjectProviderName: providerName
    .optional()
    .describe('upstream provider whose token is exchanged; default: the first one of an embedded authorization server'),
});

const headerInjection = z.strictObject({
  headerName: headerName.describe('name of the header'),
  valueSecretRef: secretKeyRef.describe('its value'),
});

const bearerToken = z.strictObject({ tokenSecretRef: secretKeyRef.describe('the token') });

const roleArn = z
  .string()
  .min(20)
  .max(2048)
  .regex(/^arn:(aws|aws-cn|aws-us-gov):iam::\d{12}:role\/[\w+=,.@/-]+$/, 'expected the ARN of an IAM role');

const roleMapping = kube(
  z.strictObject({
    claim: claim.optional().describe('value in the role claim that gives the role'),
    matcher: z.string().min(1).max(4096).optional().describe('CEL expression over `claims` that gives the role'),
    roleArn: roleArn.describe('the role'),
    priority: int32().optional().describe('lower ones first'),
  }),
  {
    rules: [
      {
        rule: 'has(self.claim) != has(self.matcher)',
        message: 'exactly one of claim and matcher must be set',
        fieldPath: '.claim',
      },
    ],
  },
);

const awsSts = kube(
  z.strictObject({
    region: z
      .string()
      .min(1)
      .max(63)
      .regex(/^[a-z]{2}(-[a-z]+)+-\d+$/, 'expected a region such as eu-central-1')
      .describe('region of STS and of the signature'),
    service: z.string().min(1).max(63).default('aws-mcp').describe('service name of the signature'),
    fallbackRoleArn: roleArn.optional().describe('role when no mapping matches'),
    roleMappings: z.array(roleMapping).max(200).optional().describe('roles by claims'),
    roleClaim: claim.default('groups').describe('claim that mappings with claim read'),
    sessionDuration: kube(z.int().min(900).max(43_200), { format: 'int32' })
      .default(3600)
      .describe('lifetime of credentials in seconds'),
    sessionNameClaim: claim.default('sub').describe('claim with the session name'),
    subjectProviderName: providerName.optional().describe('upstream provider whose token is the web identity token'),
  }),
  {
    rules: [
      {
        rule: 'has(self.fallbackRoleArn) || (has(self.roleMappings) && size(self.roleMappings) > 0)',
        message: 'fallbackRoleArn or roleMappings must be set',
        fieldPath: '.fallbackRoleArn',
        reason: 'FieldValueRequired',
      },
    ],
  },
);

const upstreamInject = z.strictObject({ providerName: providerName.describe('upstream provider whose token is sent') });

const obo = z.strictObject({
  tenantId: z
    .string()
    .min(1)
    .max(253)
    .regex(/^[0-9A-Za-z.-]+$/, 'expected a GUID or a domain')
    .optional()
    .describe('tenant of the identity provider'),
  authority: httpsUrl.optional().describe('base URL of the identity provider'),
  clientId: clientId.optional(),
  clientSecretRef: secretKeyRef.optional(),
  audience: audience.optional(),
  scopes: scopes.max(20).optional(),
  subjectTokenProviderName: providerName.optional(),
  cacheSkew: ofGoDuration(),
});

const xaa = z.strictObject({
  idpTokenUrl: httpsUrl.describe('token endpoint of the identity provider'),
  idpClientId: clientId.optional(),
  idpClientSecretRef: secretKeyRef.optional(),
  targetTokenUrl: httpUrl.describe('token endpoint of the authorization server of the target'),
  insecureTargetTokenUrl: z.boolean().default(false).describe('allow an http targetTokenUrl, for development'),
  targetClientId: clientId.optional(),
  targetClientSecretRef: secretKeyRef.optional(),
  targetAudience: audience.describe('audience of the assertion'),
  targetResource: z.string().min(1).max(2048).optional().describe('resource (RFC 8707) of the exchange'),
  scopes: scopes.optional(),
  subjectProviderName: providerName.optional().describe('upstream provider whose ID token is used'),
  subjectTokenType: z
    .enum(['urn:ietf:params:oauth:token-type:id_token'])
    .default('urn:ietf:params:oauth:token-type:id_token'),
});

const OPTIONS = {
  tokenExchange: tokenExchange.optional().describe('exchanges the token of the caller (RFC 8693)'),
  headerInjection: headerInjection.optional().describe('sends a fixed header'),
  bearerToken: bearerToken.optional().describe('sends a fixed bearer token'),
  embeddedAuthServer: ofSection<AuthServerSection>('authServerConfig', AUTH_SERVER)
    .optional()
    .describe('an authorization server, for MCPServer and MCPRemoteProxy'),
  awsSts: awsSts.optional().describe('signs requests with AWS credentials for the caller'),
  upstreamInject: upstreamInject.optional().describe('sends the token that an upstream provider issued'),
  obo: obo.optional().describe('on-behalf-of flow; not part of this build'),
  xaa: xaa.optional().describe('cross-app access (identity assertion)'),
};

/** Values of `type`. All but `unauthenticated` have a member of the same name. */
export const EXTERNAL_AUTH_TYPES = [
  'tokenExchange',
  'headerInjection',
  'bearerToken',
  'unauthenticated',
  'embeddedAuthServer',
  'awsSts',
  'upstreamInject',
  'obo',
  'xaa',
] as const;

function exactlyWithType(member: string): Rule {
  return {
    rule: `self.type == '${member}' ? has(self.${member}) : !has(self.${member})`,
    message: `${member} must be set when type is ${member}, and only then`,
    fieldPath: `.${member}`,
  };
}

function ofGoDuration() {
  return z
    .string()
    .max(64)
    .regex(/^(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/, 'expected a Go duration such as 30s')
    .optional();
}

/** MCPExternalAuthConfig: how backends are authenticated to. */
export const mcpExternalAuthConfig = defineKind({
  kind: 'MCPExternalAuthConfig',
  plural: 'mcpexternalauthconfigs',
  singular: 'mcpexternalauthconfig',
  shortNames: ['extauth', 'mcpextauth'],
  summary: 'MCPExternalAuthConfig is a way to authenticate to backends.',
  spec: kube(
    z.strictObject({
      type: z.enum(EXTERNAL_AUTH_TYPES).describe('which member is set; unauthenticated has none'),
      ...OPTIONS,
    }),
    { rules: Object.keys(OPTIONS).map(exactlyWithType) },
  ),
  status: z.strictObject(configStatus),
  columns: [COLUMNS.type, COLUMNS.valid, COLUMNS.age],
});

export type McpExternalAuthConfig = ObjectOf<typeof mcpExternalAuthConfig>;
