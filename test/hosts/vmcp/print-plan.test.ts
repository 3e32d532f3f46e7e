import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { planAsYaml, withoutSecrets } from '../../../hosts/vmcp/print-plan.ts';
import { proves } from '../../support/proves.ts';

interface Shown {
  readonly command: { readonly args: readonly string[] };
}

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

  proves('ask.vmcp.plan', 'is YAML with every default', () => {
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

  proves('choice.plan.masked', 'shows only harmless parts of arguments and URLs', () => {
    const args = (given: readonly string[]) =>
      (withoutSecrets({ command: { file: 'x', args: given } }) as Shown).command.args;
    const secret = 'Hunter-2-hunter';
    expect(args(['-y', '@scope/server@1.2.3', '--port', '8080', '--root', '/srv/data', '--verbose'])).toEqual([
      '-y',
      '@scope/server@1.2.3',
      '--port',
      '8080',
      '--root',
      '/srv/data',
      '--verbose',
    ]);
    expect(args(['-y', '@scope/server', '.', '..', './data'])).toEqual(['-y', '@scope/server', '.', '..', './data']);
    const cases: readonly (readonly string[])[] = [
      ['server.js', '--api-key', secret],
      ['server.js', `--api-key=${secret}`],
      ['server.js', '-k', secret],
      ['server.js', `-k=${secret}`],
      ['server.js', secret],
      ['run', '-e', `TOKEN=${secret}`, 'image'],
      ['-c', `TOKEN=${secret} exec server`],
      ['--header', `Authorization: Bearer ${secret}`],
      ['server', `postgres://me:${secret}@db/x?password=${secret}`],
      [`https://example.com/mcp?key=${secret}`],
      ['server', '--url', `https://example.com/mcp?key=${secret}`],
      ['server', `/path?key=${secret}`],
      ['server', `@scope/x=${secret}`],
    ];
    for (const given of cases) expect([given, JSON.stringify(args(given)).includes('unter')]).toEqual([given, false]);
    const url = (text: string) => (withoutSecrets({ url: text }) as { readonly url: string }).url;
    expect(url(`https://example.com/mcp?key=${secret}&b=&c#${secret}`)).toBe(
      'https://example.com/mcp?key=[secret]&b=[secret]&[secret]',
    );
    expect(url(`https://me:${secret}@example.com/mcp#${secret}`)).toBe('https://[redacted]@example.com/mcp');
    expect(url('https://example.com/mcp')).toBe('https://example.com/mcp');
  });

  it('does not change the plan itself', () => {
    withoutSecrets(plan);
    expect(plan.outgoingAuth.backends.a.options.headerValue).toBe('s4');
  });
});
