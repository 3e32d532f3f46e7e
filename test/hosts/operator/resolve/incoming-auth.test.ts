import { createGateway } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, it } from 'vitest';
import type { Resolution } from '../../../../hosts/operator/resolve/resolution.ts';
import { cedarConfig } from '../../../../plugins/authorization/cedar/config.ts';
import { proves } from '../../../support/proves.ts';
import { readText } from '../../../support/vmcp-text.ts';
import { conditions, entry, messageOf, object, podOf, resolveYaml, secret, server } from './resolve-yaml.ts';

const OIDC = '{ type: oidc, oidcConfigRef: { name: company, audience: tools } }';
const COMPANY = object(
  'MCPOIDCConfig',
  'company',
  'spec: { type: inline, inline: { issuer: "https://idp.example.com", clientId: gateway } }',
);
const PERMIT = '["permit(principal, action, resource);"]';
const PEM = '-----BEGIN CERTIFICATE-----\\nMIIB\\n-----END CERTIFICATE-----\\n';

const fileOf = (resolution: Resolution) => podOf(resolution).config as { readonly incomingAuth?: unknown };

describe('spec.incomingAuth', () => {
  proves(
    [
      'vmcp.related.oidc-config',
      'vmcp.config.auth-superseded',
      'vmcp.spec.incoming-auth-precedence',
      'vmcp.spec.auth-server-config-absent',
      'vmcp.incoming-auth.oidc-config-ref-resource-url',
    ],
    'is made from the referenced MCPOIDCConfig, with audience and scopes of the reference, and replaces config.incomingAuth',
    async () => {
      const written = 'config: { incomingAuth: { type: anonymous }, outgoingAuth: { source: inline } }';
      const resolution = await resolveYaml(server(written, OIDC) + COMPANY);
      expect(fileOf(resolution)).toMatchObject({ outgoingAuth: { source: 'discovered' } });
      expect(fileOf(resolution)).not.toHaveProperty('authServerConfig');
      expect(fileOf(resolution).incomingAuth).toEqual({
        type: 'oidc',
        oidc: {
          issuer: 'https://idp.example.com',
          clientId: 'gateway',
          audience: 'tools',
          scopes: ['openid'],
          resource: 'http://vmcp-tools.team.svc.cluster.local:4483',
        },
      });
      expect(conditions(resolution)).toContain('OIDCConfigRefValidated=True/OIDCConfigRefValid');
      expect(resolution.hashes.oidcConfigHash).toMatch(/^[0-9a-f]{64}$/);
    },
  );

  proves(
    ['vmcp.incoming-auth.oidc-config-ref-scopes-advertised', 'vmcp.incoming-auth.oidc-config-ref-resource-url-public'],
    'has the public URL and the scopes of the reference, which the resource metadata of the endpoint shows',
    async () => {
      const auth =
        '{ type: oidc, oidcConfigRef: { name: company, audience: tools, scopes: [a, b], resourceUrl: "https://mcp.example.com/mcp" } }';
      const inline = 'outgoingAuth: { source: inline }';
      const resolution = await resolveYaml(server(inline, auth) + COMPANY + entry('a'));
      expect(fileOf(resolution).incomingAuth).toMatchObject({
        oidc: { scopes: ['a', 'b'], resource: 'https://mcp.example.com/mcp' },
      });
      const read = await readText(podOf(resolution).configYaml, 'config.yaml');
      const gateway = await createGateway(read.planWith({ loopback: false }), { catalogue });
      try {
        const url = 'https://mcp.example.com/.well-known/oauth-protected-resource/mcp';
        const answer = await gateway.fetch(new Request(url, { headers: { host: 'mcp.example.com' } }));
        expect(await answer.json()).toMatchObject({
          resource: 'https://mcp.example.com/mcp',
          scopes_supported: ['a', 'b'],
          authorization_servers: ['https://idp.example.com'],
        });
      } finally {
        await gateway.stop();
      }
    },
  );

  it('reads keys of the cluster with the token of the pod, for tokens of one service account', async () => {
    const cluster = object(
      'MCPOIDCConfig',
      'company',
      'spec: { type: kubernetesServiceAccount, kubernetesServiceAccount: { serviceAccount: agent } }',
    );
    const folder = '/var/run/secrets/kubernetes.io/serviceaccount';
    expect(fileOf(await resolveYaml(server('', OIDC) + cluster)).incomingAuth).toMatchObject({
      oidc: {
        issuer: 'https://kubernetes.default.svc',
        caBundlePath: `${folder}/ca.crt`,
        jwksAuthTokenFile: `${folder}/token`,
        jwksAllowPrivateIp: true,
        requiredSubject: 'system:serviceaccount:team:agent',
      },
    });
    const bare = object('MCPOIDCConfig', 'company', 'spec: { type: kubernetesServiceAccount }');
    const { oidc } = fileOf(await resolveYaml(server('', OIDC) + bare)).incomingAuth as { oidc: object };
    expect(oidc).toHaveProperty('jwksAuthTokenFile');
    expect(oidc).not.toHaveProperty('requiredSubject');
  });

  it('gets the client secret as a variable and the CA bundle as a file', async () => {
    const inline = object(
      'MCPOIDCConfig',
      'company',
      'spec: { type: inline, inline: { issuer: "https://idp.example.com", clientId: gateway, introspectionUrl: "https://idp.example.com/i", clientSecretRef: { name: idp, key: secret }, caBundleRef: { configMapRef: { name: ca } } } }',
    );
    const ca = object('ConfigMap', 'ca', `data: { ca.crt: "${PEM}" }`);
    const text = server('', OIDC) + inline + ca;
    const resolution = await resolveYaml(text + secret('idp', { secret: 'hunter2' }));
    const pod = podOf(resolution);
    expect(pod.env).toEqual([
      { name: 'TOOLMGR_OIDC_CLIENT_SECRET', valueFrom: { secretKeyRef: { name: 'idp', key: 'secret' } } },
    ]);
    expect(pod.volumes).toEqual([
      { name: 'ca-oidc-ca', configMap: { name: 'ca', items: [{ key: 'ca.crt', path: 'ca.crt' }], defaultMode: 0o444 } },
    ]);
    expect(pod.volumeMounts).toEqual([{ name: 'ca-oidc-ca', mountPath: '/etc/toolmgr/oidc-ca', readOnly: true }]);
    expect(fileOf(resolution).incomingAuth).toMatchObject({
      oidc: { clientSecretEnv: 'TOOLMGR_OIDC_CLIENT_SECRET', caBundlePath: '/etc/toolmgr/oidc-ca/ca.crt' },
    });
    expect(JSON.stringify(resolution)).not.toContain('hunter2');
    // rotation rolls
    const rotated = podOf(await resolveYaml(text + secret('idp', { secret: 'hunter3' })));
    expect(rotated.configYaml).toBe(pod.configYaml);
    expect(rotated.checksum).not.toBe(pod.checksum);

    const missing = await resolveYaml(text);
    expect(missing.outcome).toMatchObject({ result: 'failed', phase: 'Failed' });
    expect(conditions(missing)).toContain('AuthConfigured=False/AuthInvalid');
    expect(missing.events).toMatchObject([
      { type: 'Warning', reason: 'SecretValidationFailed', message: expect.stringContaining('no secret idp') },
    ]);
  });

  const failures: readonly [string, string, string, string][] = [
    ['a missing MCPOIDCConfig', '', 'OIDCConfigRefNotFound', 'there is no MCPOIDCConfig company'],
    [
      'one without its member',
      object('MCPOIDCConfig', 'company', 'spec: { type: inline }'),
      'OIDCConfigRefNotValid',
      'spec.inline: missing',
    ],
    [
      'an http issuer',
      object('MCPOIDCConfig', 'company', 'spec: { type: inline, inline: { issuer: "http://idp.example.com" } }'),
      'OIDCConfigRefNotValid',
      'expected https',
    ],
    [
      'one that its controller refused',
      `${COMPANY}status: { conditions: [{ type: Valid, status: "False", reason: ValidationFailed, message: it is wrong }] }\n`,
      'OIDCConfigRefNotValid',
      'it is wrong',
    ],
  ];
  it.each(failures)('fails for %s', async (_, config, reason, message) => {
    const resolution = await resolveYaml(server('', OIDC) + config);
    expect(resolution.outcome).toMatchObject({
      result: 'failed',
      phase: 'Failed',
      message: expect.stringContaining(message),
    });
    expect(conditions(resolution)).toContain(`OIDCConfigRefValidated=False/${reason}`);
    expect(resolution.pod).toBeUndefined();
  });
});

describe('authorization', () => {
  const withAuthz = (authz: string) => `{ type: anonymous, ${authz} }`;

  proves(
    ['vmcp.authz-config.group-claim-name-defaults', 'vmcp.authz-config.group-entity-type-default'],
    'takes inline policies with the claims of groups and roles, whose defaults are those of Cedar',
    async () => {
      const bare = `authzConfig: { type: inline, inline: { policies: ${PERMIT} } }`;
      const { authz } = fileOf(await resolveYaml(server('', withAuthz(bare)))).incomingAuth as { authz: object };
      expect(authz).toEqual({ type: 'cedar', policies: ['permit(principal, action, resource);'], entitiesJson: '[]' });
      const { type: _, ...ofPlugin } = authz as { type: string };
      expect(cedarConfig.parse(ofPlugin)).toMatchObject({ groupEntityType: 'THVGroup' });
      const inline = `authzConfig: { type: inline, inline: { policies: ${PERMIT} }, groupClaimName: teams, groupEntityType: Team, roleClaimName: roles }`;
      expect(fileOf(await resolveYaml(server('', withAuthz(inline)))).incomingAuth).toEqual({
        type: 'anonymous',
        authz: {
          type: 'cedar',
          policies: ['permit(principal, action, resource);'],
          entitiesJson: '[]',
          groupClaimName: 'teams',
          groupEntityType: 'Team',
          roleClaimName: 'roles',
        },
      });
    },
  );

  const configMap = (file: string) => object('ConfigMap', 'policies', `data: { authz.json: ${JSON.stringify(file)} }`);
  const CONFIG_MAP = 'authzConfig: { configMap: { name: policies }, groupClaimName: mine }';

  proves('vmcp.authz-config.config-map-overridden', 'takes a config map, whose claims the spec overrides', async () => {
    const file = JSON.stringify({
      version: '1.0',
      type: 'cedarv1',
      cedar: { policies: ['permit(principal, action, resource);'], group_claim_name: 'theirs', role_claim_name: 'r' },
    });
    const resolution = await resolveYaml(server('', withAuthz(CONFIG_MAP)) + configMap(file));
    expect(fileOf(resolution).incomingAuth).toMatchObject({ authz: { groupClaimName: 'mine', roleClaimName: 'r' } });
  });

  const wrong: readonly [string, string, string][] = [
    ['no config map', '', 'AuthzConfigMapNotFound'],
    ['no key', object('ConfigMap', 'policies', 'data: { other: "{}" }'), 'AuthzConfigMapNotFound'],
    ['no JSON', configMap('{'), 'AuthzConfigMapInvalid'],
    ['another type', configMap('{"type":"httpv1"}'), 'AuthzConfigMapInvalid'],
    ['an unknown key', configMap('{"type":"cedarv1","cedar":{"policies":[],"x":1}}'), 'AuthzConfigMapInvalid'],
    ['a wrong policy', configMap('{"type":"cedarv1","cedar":{"policies":["permit("]}}'), 'AuthzConfigMapInvalid'],
  ];
  it.each(wrong)('fails with an event for a config map with %s', async (_, object, reason) => {
    const resolution = await resolveYaml(server('', withAuthz(CONFIG_MAP)) + object);
    expect(resolution.outcome.result).toBe('failed');
    expect(conditions(resolution)).toContain(`AuthConfigured=False/${reason}`);
    expect(resolution.events.map((event) => event.reason)).toEqual([reason]);
  });

  const REF = 'authzConfigRef: { name: shared }';
  const shared = (spec: string) => object('MCPAuthzConfig', 'shared', `spec: ${spec}`);

  proves(
    ['vmcp.related.authz-config', 'vmcp.authentication.oidc-optional-authorization'],
    'takes a shared MCPAuthzConfig, also with oidc',
    async () => {
      const auth = `{ type: oidc, oidcConfigRef: { name: company, audience: tools }, ${REF} }`;
      const cedar = shared(`{ type: cedarv1, config: { policies: ${PERMIT}, group_claim_name: teams } }`);
      const resolution = await resolveYaml(server('', auth) + COMPANY + cedar);
      expect(fileOf(resolution).incomingAuth).toMatchObject({ type: 'oidc', authz: { groupClaimName: 'teams' } });
      expect(conditions(resolution)).toContain('AuthzConfigRefValidated=True/AuthzConfigRefValid');
      expect(resolution.hashes.authzConfigHash).toMatch(/^[0-9a-f]{64}$/);
    },
  );

  proves(
    ['vmcp.error.authz-config-ref-variant', 'vmcp.incoming-auth.authz-config-ref-variant'],
    'fails for an MCPAuthzConfig of another variant than Cedar',
    async () => {
      const resolution = await resolveYaml(server('', withAuthz(REF)) + shared('{ type: httpv1, config: {} }'));
      expect(resolution.outcome).toMatchObject({ result: 'failed', phase: 'Failed' });
      expect(conditions(resolution)).toContain('AuthzConfigRefValidated=False/AuthzConfigRefNotValid');
      expect(messageOf(resolution, 'AuthzConfigRefValidated')).toContain(
        'has type httpv1; VirtualMCPServer supports only cedarv1',
      );
    },
  );

  it('fails for an MCPAuthzConfig that is missing, or has wrong policies', async () => {
    expect(conditions(await resolveYaml(server('', withAuthz(REF))))).toContain(
      'AuthzConfigRefValidated=False/AuthzConfigRefNotFound',
    );
    for (const config of ['{}', '{ policies: ["permit("] }', '{ policies: 1 }', `{ policies: ${PERMIT}, extra: 1 }`]) {
      const resolution = await resolveYaml(server('', withAuthz(REF)) + shared(`{ type: cedarv1, config: ${config} }`));
      expect(conditions(resolution), config).toContain('AuthzConfigRefValidated=False/AuthzConfigRefNotValid');
    }
  });
});
