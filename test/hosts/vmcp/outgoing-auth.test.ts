import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { planAsYaml } from '../../../hosts/vmcp/print-plan.ts';
import { proves } from '../../support/proves.ts';
import { problemsOf, readText } from '../../support/vmcp-text.ts';

const CALLERS = join(import.meta.dirname, 'fixture/lenient.ts');

/** A file whose callers come with tokens, through a plugin of its own. */
const file = (outgoingAuth: unknown, rest: Record<string, unknown> = {}): string =>
  JSON.stringify({
    name: 'gateway',
    groupRef: 'dev',
    aggregation: {},
    plugins: [{ use: CALLERS }],
    outgoingAuth,
    ...rest,
  });
const inline = (use: unknown) => ({ source: 'inline', default: use });
const problems = async (text: string) => (await problemsOf(text, 'gateway.yaml')).join('\n');

const tokenExchange = {
  tokenUrl: 'https://idp.example.com/token',
  audience: 'far',
  clientId: 'gateway',
  clientSecretEnv: 'IDP_SECRET',
  scopes: ['repo'],
};

const oidc = { issuer: 'https://idp.example.com', clientId: 'gateway', audience: 'gateway' };

describe('outgoingAuth of a vmcp file', () => {
  it('puts fixed headers of a backend around its strategy', async () => {
    const backends = [
      { name: 'far', url: 'https://far/mcp', transport: 'streamable-http', headers: { 'X-Team': 'a' } },
      { name: 'near', url: 'https://near/mcp', transport: 'sse', headersEnv: { 'X-Key': 'NEAR_KEY' } },
      { name: 'plain', url: 'https://plain/mcp', transport: 'sse' },
    ];
    const outgoing = { source: 'inline', backends: { far: { type: 'token_exchange', tokenExchange } } };
    const plan = (await readText(file(outgoing, { backends }), 'gateway.yaml')).plan;
    expect(plan.outgoingAuth).toEqual({
      default: { type: 'unauthenticated' },
      backends: {
        far: {
          type: 'forward_headers',
          options: {
            headers: { 'X-Team': 'a' },
            headersEnv: {},
            after: { type: 'token_exchange', options: tokenExchange },
          },
        },
        near: {
          type: 'forward_headers',
          options: { headers: {}, headersEnv: { 'X-Key': 'NEAR_KEY' }, after: { type: 'unauthenticated' } },
        },
      },
    });
    expect(plan.plugins.map(({ use }) => use)).toContain('outgoing-auth/forward-headers');
    const given = { name: 'b', transport: 'sse', url: 'https://b', headers: { a: 'b' }, headersEnv: { A: 'B' } };
    expect(await problems(file(outgoing, { backends: [given] }))).toContain('a header is in headers too');
  });

  proves('vmcp.config-outgoing.type-token-exchange', 'is converted to a plan that exchanges tokens', async () => {
    const use = { type: 'token_exchange', tokenExchange };
    const read = await readText(file({ source: 'inline', default: use, backends: { far: use } }), 'gateway.yaml');
    const plan = read.plan;
    expect(read.warnings).toEqual([]);
    expect(plan.plugins.map(({ use }) => use)).toContain('outgoing-auth/token-exchange');
    expect(plan.outgoingAuth).toEqual({
      default: { type: 'token_exchange', options: tokenExchange },
      backends: { far: { type: 'token_exchange', options: tokenExchange } },
    });
  });

  it('is checked by the schema of the strategy, with the line of each problem', async () => {
    const wrong = {
      ...tokenExchange,
      tokenUrl: 'http://idp.example.com/',
      audiance: 'x',
    };
    const found = await problems(file(inline({ type: 'token_exchange', tokenExchange: wrong })));
    expect(found).toMatch(/gateway\.yaml:1: outgoingAuth\.default\.tokenExchange\.tokenUrl: expected https/);
    expect(found).toMatch(/tokenExchange\.audiance: unknown key "audiance", did you mean "audience"/);
  });

  it.each([
    [
      'token_exchange',
      { tokenExchange: { ...tokenExchange, subjectProviderName: 'github' } },
      'tokenExchange.subjectProviderName',
    ],
    [
      'aws_sts',
      {
        awsSts: {
          region: 'eu-central-1',
          fallbackRoleArn: 'arn:aws:iam::123456789012:role/r',
          subjectProviderName: 'github',
        },
      },
      'awsSts.subjectProviderName',
    ],
    ['upstream_inject', { upstreamInject: { providerName: 'github' } }, 'upstreamInject.providerName'],
  ])('of type %s names an upstream provider that the file has', async (type, options, place) => {
    const callers = { plugins: [], incomingAuth: { type: 'oidc', oidc } };
    expect(await problems(file(inline({ type, ...options }), callers))).toContain(
      `default.${place}: names an upstream provider, and the file has none; add authServerConfig`,
    );
  });

  proves('vmcp.token-exchange.token-url', 'needs the tokenUrl of a token exchange', async () => {
    const { tokenUrl: _, ...rest } = tokenExchange;
    expect(await problems(file(inline({ type: 'token_exchange', tokenExchange: rest })))).toBe(
      'gateway.yaml:1: outgoingAuth.default.tokenExchange.tokenUrl: missing, expected a string',
    );
  });

  it('needs the options of its strategy, and refuses others', async () => {
    expect(await problems(file(inline({ type: 'token_exchange' })))).toContain(
      'outgoingAuth.default: type token_exchange needs tokenExchange',
    );
    const stray = { type: 'token_exchange', tokenExchange, headerInjection: { headerName: 'a', headerValue: 'b' } };
    expect(await problems(file(inline(stray)))).toContain(
      'default.headerInjection: has no effect with type token_exchange; remove it',
    );
  });

  it('warns of a client secret in the file, and never prints it', async () => {
    const { clientSecretEnv: _, ...rest } = tokenExchange;
    const use = { type: 'token_exchange', tokenExchange: { ...rest, clientSecret: 'c1ient-s3cret' } };
    const read = await readText(file(inline(use)), 'gateway.yaml');
    expect(read.warnings).toEqual([
      expect.stringMatching(/tokenExchange\.clientSecret: a credential is .*clientSecretEnv/),
    ]);
    const printed = planAsYaml(read.plan);
    expect(printed).toContain('clientSecret: "[secret]"');
    expect(printed).not.toContain('c1ient-s3cret');
  });

  proves(
    'choice.general.never-ignored',
    'refuses credentials for a stdio program, where they have no effect',
    async () => {
      const backends = [{ name: 'files', transport: 'stdio', command: { file: 'server' } }];
      const use = { type: 'header_injection', headerInjection: { headerName: 'X-Key', headerValueEnv: 'KEY' } };
      expect(await problems(file({ source: 'inline', backends: { files: use } }, { backends }))).toMatch(
        /outgoingAuth\.backends\.files\.type: header_injection has no effect on a program .* command\.env/,
      );
      const { config } = await readText(file(inline(use), { backends }), 'gateway.yaml');
      expect(config.outgoingAuth.default?.type).toBe('header_injection');
    },
  );

  it('warns when headers of clients are sent to remote servers', async () => {
    const remote = { name: 'far', transport: 'sse', url: 'https://far.example/sse', type: 'entry' };
    const more = { backends: [remote], passthroughHeaders: ['X-Tenant'] };
    const { warnings } = await readText(file({ source: 'inline' }, more), 'gateway.yaml');
    expect(warnings).toEqual([
      expect.stringMatching(/passthroughHeaders: values from clients .* remote servers: far$/),
    ]);
  });

  proves('choice.token-exchange.needs-tokens', 'refuses to exchange tokens when callers have none', async () => {
    const text = file(inline({ type: 'token_exchange', tokenExchange }), {
      plugins: [],
      incomingAuth: { type: 'anonymous' },
    });
    expect(await problems(text)).toMatch(
      /outgoingAuth\.default\.type: token_exchange needs the token .* set incomingAuth\.type: oidc/,
    );
  });

  proves(
    'vmcp.obo.enterprise-required',
    'refuses obo as enterprise-required, unless its plugin allows it',
    async () => {
      const obo = inline({ type: 'obo', obo: { tokenUrl: 'https://idp.example.com/token' } });
      const refused = 'outgoingAuth.default.obo: obo is refused as enterprise-required';
      expect(await problems(file(obo))).toContain(refused);
      const use = 'outgoing-auth/obo';
      expect(await problems(file(obo, { plugins: [{ use, with: { allow: false } }] }))).toContain(refused);
      const allowed = file(obo, { plugins: [{ use, with: { allow: true } }] });
      const plan = (await readText(allowed, 'gateway.yaml')).plan;
      expect(plan.plugins.filter((entry) => entry.use === use)).toEqual([{ use, with: { allow: true } }]);
    },
  );

  proves(
    'vmcp.config-outgoing.type-others',
    'takes upstream_inject, aws_sts, obo and xaa with sub-objects of those names in camel case',
    async () => {
      const endpoint = 'https://idp.example.com/token';
      const xaa = { idpTokenUrl: endpoint, targetAudience: 'b', targetTokenUrl: endpoint, subjectProviderName: 'idp' };
      const backends = {
        one: { type: 'upstream_inject', upstreamInject: { providerName: 'idp' } },
        two: {
          type: 'aws_sts',
          awsSts: { region: 'eu-central-1', fallbackRoleArn: 'arn:aws:iam::123456789012:role/r' },
        },
        three: { type: 'obo', obo: { tokenUrl: endpoint, clientId: 'gateway', clientSecretEnv: 'SECRET' } },
        four: { type: 'xaa', xaa },
      };
      const plugins = [{ use: 'outgoing-auth/obo', with: { allow: true } }];
      const read = await readText(file({ source: 'inline', backends }, { plugins }), 'gateway.yaml');
      const { outgoingAuth, plugins: used } = read.plan;
      expect(outgoingAuth?.backends).toEqual({
        one: { type: 'upstream_inject', options: backends.one.upstreamInject },
        two: { type: 'aws_sts', options: backends.two.awsSts },
        three: { type: 'obo', options: backends.three.obo },
        four: { type: 'xaa', options: xaa },
      });
      const addresses = ['upstream-inject', 'aws-sts', 'obo', 'xaa'].map((name) => `outgoing-auth/${name}`);
      expect(used.map(({ use }) => use)).toEqual(expect.arrayContaining(addresses));
    },
  );

  it('of type xaa needs an authorization server', async () => {
    const options = { idpTokenUrl: 'https://a.example', targetAudience: 'b', targetTokenUrl: 'https://c.example' };
    const callers = { plugins: [], incomingAuth: { type: 'oidc', oidc } };
    expect(await problems(file(inline({ type: 'xaa', xaa: options }), callers))).toContain(
      'default.xaa: needs the ID token of an upstream provider; add authServerConfig',
    );
  });
});
