import { describe, expect, it } from 'vitest';
import { proves } from '../../../support/proves.ts';
import { conditions, messageOf, object, podOf, resolveYaml, server } from './resolve-yaml.ts';

const AUTH = '{ type: oidc, oidcConfigRef: { name: company, audience: shared } }';
const TELEMETRY = 'telemetryConfigRef: { name: otel, serviceName: shared }';
const OBJECTS =
  object(
    'MCPOIDCConfig',
    'company',
    'spec: { type: inline, inline: { issuer: "https://idp.example.com", clientId: gateway } }',
  ) + object('MCPTelemetryConfig', 'otel', 'spec: { prometheus: { enabled: true } }');

/** Another server, created at a time, with more metadata. */
const other = (name: string, created: string, more = '', spec = '') =>
  object('VirtualMCPServer', name, `spec: { groupRef: { name: group }, incomingAuth: ${AUTH}${spec} }`).replace(
    `{ name: ${name} }`,
    `{ name: ${name}, creationTimestamp: "${created}"${more} }`,
  );

const OLD = '2026-01-01T00:00:00Z';
const NEW = '2026-03-01T00:00:00Z';
const own = (spec = '', auth = AUTH) =>
  server(spec, auth).replace('{ name: tools }', '{ name: tools, creationTimestamp: "2026-02-01T00:00:00Z" }') + OBJECTS;

describe('two VirtualMCPServers', () => {
  proves(
    'vmcp.incoming-auth.oidc-config-ref-audience-unique',
    'cannot have one audience: the younger one fails, gets no pods, and its condition and event name both',
    async () => {
      const younger = await resolveYaml(own() + other('first', OLD) + other('second', '2026-01-02T00:00:00Z'));
      expect(younger.pod).toBeUndefined();
      expect(younger.outcome).toMatchObject({ result: 'failed', phase: 'Failed' });
      expect(conditions(younger)).toContain('OIDCConfigRefValidated=False/AudienceNotUnique');
      expect(messageOf(younger, 'OIDCConfigRefValidated')).toBe(
        'spec.incomingAuth.oidcConfigRef.audience: "shared" must be unique, but VirtualMCPServer first, which is older, has it too; change it in tools',
      );
      expect(younger.events).toMatchObject([{ type: 'Warning', reason: 'AudienceNotUnique' }]);
      const older = await resolveYaml(own() + other('last', NEW));
      expect(podOf(older).config).toMatchObject({ incomingAuth: { oidc: { audience: 'shared' } } });
    },
  );

  proves(
    'vmcp.telemetry-config-ref.service-name-unique',
    'cannot have one service name in telemetry: the younger one fails',
    async () => {
      const auth = '{ type: anonymous }';
      const younger = await resolveYaml(own(TELEMETRY, auth) + other('first', OLD, '', `, ${TELEMETRY}`));
      expect(conditions(younger)).toContain('TelemetryConfigRefValidated=False/ServiceNameNotUnique');
      expect(younger.pod).toBeUndefined();
      const older = await resolveYaml(own(TELEMETRY, auth) + other('last', NEW, '', `, ${TELEMETRY}`));
      expect(podOf(older).config).toMatchObject({ telemetry: { serviceName: 'shared' } });
    },
  );

  it.each([
    ['is being deleted', other('first', OLD, `, deletionTimestamp: "${NEW}"`)],
    ['is in another namespace', other('first', OLD, ', namespace: other')],
    ['has another audience', other('first', OLD).replace('audience: shared', 'audience: first')],
    ['does not use OIDC', other('first', OLD).replace('type: oidc', 'type: anonymous')],
  ])('may have one audience when the older one %s', async (_, objects) => {
    expect((await resolveYaml(own() + objects)).outcome).toEqual({ result: 'ready' });
  });

  it('of the same second are told apart by their names', async () => {
    const same = '2026-02-01T00:00:00Z';
    expect((await resolveYaml(own() + other('a', same))).outcome.result).toBe('failed');
    expect((await resolveYaml(own() + other('z', same))).outcome.result).toBe('ready');
  });
});
