import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { planAsYaml, withoutSecrets } from '../../../hosts/vmcp/print-plan.ts';
import { proves } from '../../support/proves.ts';

describe('a printed plan', () => {
  const plan = {
    plugins: [
      { use: 'incoming-auth/anonymous' },
      { use: './custom.ts', with: { clientSecret: 's1', nested: [{ apiKey: 's2' }], clientSecretEnv: 'NAME' } },
      { use: 'backend-sources/static', with: { backends: [{ command: { file: 'x', env: { ANY: 's3' } } }] } },
    ],
    outgoingAuth: {
      backends: {
        a: { type: 'header_injection', options: { headerName: 'Authorization', headerValue: 's4' } },
        token: { type: 'header_injection', options: { headerName: 'X', headerValueEnv: 'TOKEN' } },
      },
    },
    stateKey: 's5'.repeat(20),
  };

  proves('ask.vmcp.plan', 'is YAML with every default filled in', () => {
    const printed = parse(planAsYaml({ plugins: [] })) as Record<string, unknown>;
    expect(printed).toMatchObject({
      name: 'toolmgr-vmcp',
      outgoingAuth: { default: { type: 'unauthenticated' } },
      timeouts: { defaultMs: 30_000 },
      endpoint: { path: '/mcp' },
      limits: { bodyBytes: 8_388_608 },
    });
  });

  it('never has a secret, and keeps the names of variables', () => {
    const printed = planAsYaml(plan);
    for (const secret of ['s1', 's2', 's3', 's4', 's5']) expect(printed).not.toContain(secret);
    expect(parse(printed)).toMatchObject({
      plugins: [{}, { with: { clientSecret: '[secret]', clientSecretEnv: 'NAME' } }, {}],
      outgoingAuth: { backends: { token: { options: { headerValueEnv: 'TOKEN' } } } },
    });
  });

  it('leaves the plan itself as it was', () => {
    withoutSecrets(plan);
    expect(plan.outgoingAuth.backends.a.options.headerValue).toBe('s4');
  });
});
