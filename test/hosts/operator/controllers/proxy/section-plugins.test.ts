import { describe, expect, it } from 'vitest';
import { sectionPlugins } from '../../../../../hosts/operator/controllers/proxy/section-plugins.ts';

const OIDC = { issuer: 'https://id.example', audience: 'tools' };
const SERVER = { issuer: 'https://tools.example', upstreamProviders: [{ name: 'corp' }] };

describe('the plugins of sections', () => {
  it('have the sections as they are, in the order of the file', async () => {
    const file = {
      authServerConfig: SERVER,
      incomingAuth: {
        type: 'oidc',
        oidc: OIDC,
        authz: { type: 'cedar', policies: ['permit(principal, action, resource);'] },
      },
      telemetry: { tracingEnabled: true, serviceName: 'a' },
      rateLimiting: { shared: { maxTokens: 1, refillPeriod: '1m' }, store: 'redis' },
    };
    expect(await sectionPlugins(file)).toEqual([
      { use: 'auth-server', with: SERVER },
      { use: 'incoming-auth/oidc', with: OIDC },
      { use: 'authorization/cedar', with: { policies: ['permit(principal, action, resource);'] } },
      { use: 'telemetry', with: file.telemetry },
      { use: 'rate-limit', with: file.rateLimiting },
    ]);
  });

  it('are none for telemetry with everything off, and for callers without names', async () => {
    const absent = { authServerConfig: undefined, rateLimiting: undefined };
    const file = {
      ...absent,
      incomingAuth: { type: 'anonymous' },
      telemetry: { serviceName: 'a', endpoint: 'c:4318' },
    };
    expect(await sectionPlugins(file)).toEqual([]);
  });
});
