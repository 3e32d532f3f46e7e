import { GatewayFault } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { proves } from '../../support/proves.ts';
import { readText } from '../../support/vmcp-text.ts';

const HEAD = `name: dev
groupRef: dev
incomingAuth: { type: anonymous }
outgoingAuth: { source: inline }
aggregation: {}
`;

const read = (text: string) => readText(text, 'gateway.yaml');
const withHead = (more: string) => read(HEAD + more);

/** The lines of the fault. */
const problems = async (reading: Promise<unknown>): Promise<string[]> => {
  const fault = await reading.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!(fault instanceof GatewayFault)) throw new Error(`expected a fault, got ${String(fault)}`);
  expect(fault.code).toBe('PLAN_INVALID');
  return fault.message.split('\n');
};

describe('a vmcp file', () => {
  proves(
    [
      'vmcp.config.name',
      'vmcp.config.group-ref',
      'vmcp.config.incoming-auth-anonymous',
      'vmcp.config.outgoing-auth-source-inline',
    ],
    'is accepted with name, group, anonymous callers and inline strategies',
    async () => {
      const { config } = await read(HEAD);
      expect(config).toMatchObject({
        name: 'dev',
        groupRef: 'dev',
        incomingAuth: { type: 'anonymous' },
        outgoingAuth: { source: 'inline' },
      });
      expect((await read(HEAD.replace('name: dev', 'name: other'))).plan).toMatchObject({ name: 'other' });
    },
  );

  proves('choice.standalone.required-sections', 'names every required section that is missing', async () => {
    expect((await problems(read('metadata: {}'))).sort()).toEqual([
      'gateway.yaml:1: aggregation: missing, expected a section',
      'gateway.yaml:1: groupRef: missing, expected a string',
      'gateway.yaml:1: incomingAuth: missing, expected a section; only a file with an authenticating plugin under plugins: may leave it out',
      'gateway.yaml:1: name: missing, expected a string',
      'gateway.yaml:1: outgoingAuth: missing, expected a section',
    ]);
  });

  it('reports the expected and the given kind of a value, without quoting it', async () => {
    const wrong = `audit: []
rateLimiting: { shared: { maxTokens: 1.5, refillPeriod: 10 } }
sessionStorage: redis
`;
    expect(await problems(withHead(wrong))).toEqual([
      'gateway.yaml:6: audit: expected a section, got a list',
      'gateway.yaml:7: rateLimiting.shared.maxTokens: expected a whole number, got a fraction',
      'gateway.yaml:7: rateLimiting.shared.refillPeriod: expected a Go duration such as 30s, 250ms or 1h30m',
      'gateway.yaml:8: sessionStorage: expected a section, got a string',
    ]);
    expect(await problems(read('- a\n'))).toEqual(['gateway.yaml:1: expected a section, got a list']);
    expect(await problems(read('# nothing\n'))).toEqual(['gateway.yaml:1: the file is empty']);
    expect(await problems(withHead('name: two\n'))).toEqual([
      'gateway.yaml:6: the key name is a duplicate in its section',
    ]);
  });

  it('warns about an unused collector and about probes that take longer than their interval', async () => {
    const failureHandling = '{ healthCheckInterval: 5s }';
    const { warnings } = await withHead(
      `telemetry: { endpoint: "localhost:4318" }\noperational: { failureHandling: ${failureHandling} }\n`,
    );
    expect(warnings).toEqual([
      'gateway.yaml:6: telemetry.endpoint: is not used: tracingEnabled and metricsEnabled are off',
      'gateway.yaml:7: operational.failureHandling.healthCheckTimeout: 10s should be less than healthCheckInterval (5s): a probe may last until the next is due',
    ]);
    const quiet = 'telemetry: { endpoint: "localhost:4318", tracingEnabled: true, insecure: true }\n';
    expect((await withHead(`${quiet}operational: { failureHandling: {} }\n`)).warnings).toEqual([]);
  });

  proves('choice.standalone.order-free', 'may have its sections in any order', async () => {
    const reversed = HEAD.trimEnd().split('\n').reverse().join('\n');
    expect((await read(reversed)).config).toEqual((await read(HEAD)).config);
  });

  proves(
    ['choice.general.unknown-key-refused', 'ask.vmcp.yaml-near-miss'],
    'refuses unknown keys with file, line and the nearest known key',
    async () => {
      expect(await problems(withHead('agregation: {}\noperational:\n  timeouts:\n    defalt: 5s\n'))).toEqual([
        'gateway.yaml:6: agregation: unknown key "agregation", did you mean "aggregation"?',
        'gateway.yaml:9: operational.timeouts.defalt: unknown key "defalt", did you mean "default"?',
      ]);
    },
  );

  it('checks a section with the plugin that owns it, with file lines', async () => {
    const text = `name: dev
groupRef: dev
incomingAuth: { type: anonymous }
outgoingAuth: { source: inline }
aggregation:
  conflictResolution: prefx
  conflictResolutionConfig:
    prefixFormt: x
audit:
  enabld: true
  maxDelegationDepth: 0
backends:
  - name: a
    url: ftp://example.com
    transport: http
  - name: a
    url: http://example.com/mcp
    transport: streamable-http
`;
    const found = await problems(read(text));
    expect(found).toEqual([
      expect.stringMatching(/^gateway\.yaml:6: aggregation\.conflictResolution: .*"prefix"/),
      expect.stringMatching(
        /^gateway\.yaml:8: aggregation\.conflictResolutionConfig\.prefixFormt: unknown key .*"prefixFormat"/,
      ),
      'gateway.yaml:10: audit.enabld: unknown key "enabld", did you mean "enabled"?',
      expect.stringMatching(/^gateway\.yaml:11: audit\.maxDelegationDepth: /),
      expect.stringMatching(/^gateway\.yaml:14: backends\[0\]\.url: url must begin with http:\/\/ or https:\/\//),
      expect.stringMatching(/^gateway\.yaml:15: backends\[0\]\.transport: expected one of sse, streamable-http/),
    ]);
  });

  it('refuses two backends of one name', async () => {
    const text = `${HEAD}backends:\n${'  - { name: a, url: "http://a/mcp", transport: sse }\n'.repeat(2)}`;
    expect(await problems(read(text))).toEqual([
      expect.stringMatching(/^gateway\.yaml:8: backends\[1\]\.name: .*is a duplicate/),
    ]);
  });

  it('suggests a similar value', async () => {
    expect(await problems(read(HEAD.replace('anonymous', 'anonymos')))).toEqual([
      'gateway.yaml:3: incomingAuth.type: expected one of anonymous, local, oidc, did you mean "anonymous"?',
    ]);
  });

  proves('ask.vmcp.validate-all-problems', 'reports all problems, in the order of the file', async () => {
    const found = await problems(
      withHead('compositeToolRefs: [{ name: a }]\nrateLimiting: { shared: { maxTokens: 0 } }\n'),
    );
    expect(found).toEqual([
      expect.stringMatching(/^gateway\.yaml:6: compositeToolRefs: refers to cluster resources/),
      expect.stringMatching(/^gateway\.yaml:7: rateLimiting\.shared\.maxTokens: .*>=1/),
      expect.stringMatching(/^gateway\.yaml:7: rateLimiting\.shared\.refillPeriod: missing/),
    ]);
  });

  it.each([
    [
      'incomingAuth',
      'incomingAuth: { type: oidc, oidc: { issuer: "https://id", clientId: a, audiense: b } }',
      /:3: incomingAuth\.oidc\.audiense: unknown key .*did you mean "audience"/,
    ],
    [
      'incomingAuth',
      'incomingAuth: { type: oidc, oidc: { issuer: "http://id", clientId: a, audience: b } }',
      /:3: incomingAuth\.oidc\.issuer: expected https; plain http is not allowed/,
    ],
    ['incomingAuth', 'incomingAuth: { type: oidc }', /:3: incomingAuth: type oidc needs oidc/],
    [
      'incomingAuth',
      'incomingAuth: { type: local, oidc: { issuer: "https://id", clientId: a, audience: b } }',
      /:3: incomingAuth\.oidc: has no effect with type local/,
    ],
    [
      'incomingAuth',
      'incomingAuth: { type: anonymous, authz: { type: cedar, policies: [x] } }',
      /:3: incomingAuth\.authz\.policies\[0\]: line 1, column 2: unexpected/,
    ],
    [
      'incomingAuth',
      'incomingAuth: { type: anonymous, authz: { type: none, policies: [x] } }',
      /authz\.policies: would not be decided/,
    ],
    [
      'outgoingAuth',
      'outgoingAuth: { source: inline, default: { type: aws_sts, awsSts: { region: x } } }',
      /default\.awsSts: set roleMappings, fallbackRoleArn or both/,
    ],
    [
      'outgoingAuth',
      'outgoingAuth: { source: inline, default: { type: obo, obo: { tokenUrl: "https://x.example" } } }',
      /obo is refused as enterprise-required/,
    ],
    [
      'outgoingAuth',
      'outgoingAuth: { source: inline, default: { type: xaa, xaa: { idpTokenUrl: x, targetAudience: y, targetTokenUrl: z } } }',
      /default\.xaa\.idpTokenUrl: expected an absolute URL/,
    ],
    ['', 'codeMode: { enabled: true, stepLimit: 0 }', /:6: codeMode\.stepLimit: /],
    ['', 'codeMode: { enabld: true }', /unknown key "enabld", did you mean "enabled"/],
    [
      '',
      'compositeTools: [{ name: a, steps: [{ id: b }] }]',
      /:6: compositeTools\[0\]\.steps\[0\]\.tool: missing, expected a text/,
    ],
    [
      '',
      'rateLimiting: { perUser: { maxTokens: 1, refillPeriod: 1s } }',
      /:6: rateLimiting\.perUser: needs authentication: with incomingAuth\.type anonymous/,
    ],
    [
      '',
      'rateLimiting: { tools: [{ name: a, perUser: { maxTokens: 1, refillPeriod: 1s } }] }',
      /:6: rateLimiting\.tools\[0\]\.perUser: needs authentication/,
    ],
    ['', 'rateLimiting: { tools: [{ name: a }, { name: a }] }', /rateLimiting\.tools\[1\]\.name: duplicate name a/],
    ['', 'rateLimiting: { share: {} }', /rateLimiting\.share: .*did you mean "shared"/],
    ['', 'sessionStorage: { provider: redis }', /:6: sessionStorage\.address: missing/],
    ['', 'sessionStorage: { provider: redis, address: "" }', /sessionStorage\.address: expected an address/],
    ['', 'sessionStorage: { provider: redis, address: "r:1", db: -1 }', /sessionStorage\.db: .*>=0/],
    ['', 'sessionStorage: { provider: etcd }', /sessionStorage\.provider: /],
    ['', 'sessionStorage: { db: 1 }', /sessionStorage\.provider: expected one of memory, redis/],
    ['', 'sessionStorage: { provider: redis, address: "r:1", password: x }', /sessionStorage\.password: /],
    ['', 'telemetry: { metricsEnabled: true }', /:6: telemetry\.metricsEnabled: needs an endpoint/],
    ['', 'telemetry: { endpont: c }', /telemetry\.endpont: .*did you mean "endpoint"/],
    [
      '',
      'operational: { failureHandling: { partialFailureMod: fail } }',
      /:6: operational\.failureHandling\.partialFailureMod: unknown key "partialFailureMod", did you mean "partialFailureMode"/,
    ],
    [
      '',
      'operational: { failureHandling: { circuitBreaker: { timeout: 500ms } } }',
      /operational\.failureHandling\.circuitBreaker\.timeout: expected at least 1s/,
    ],
    [
      '',
      'operational: { failureHandling: { unhealthyThreshold: 0 } }',
      /operational\.failureHandling\.unhealthyThreshold/,
    ],
    ['', 'audit: { enabled: true, eventTypes: [mcp_tool_calls] }', /audit\.eventTypes\[0\]: /],
    [
      '',
      'passthroughHeaders: [X-Ok, Authorization]',
      /passthroughHeaders\[1\]: the header Authorization is restricted/,
    ],
    ['', 'limits: { bodyByte: 5 }', /limits\.bodyByte: unknown key "bodyByte", did you mean "bodyBytes"/],
    ['', 'endpoint: { loopback: false }', /endpoint\.loopback: unknown key "loopback"/],
    [
      '',
      'plugins: [{ use: stores/memry }]',
      /plugins\[0\]\.use: no plugin has the address stores\/memry, did you mean "stores\/memory"/,
    ],
    [
      '',
      'plugins: [{ use: stores/memory, with: { maxKey: 5 } }]',
      /plugins\[0\]\.with\.maxKey: unknown key .*"maxKeys"/,
    ],
    ['', 'plugins: [{ use: health }, { use: health }]', /plugins\[1\]\.use: health is a duplicate/],
    ['', 'operational: { timeouts: { default: 30 } }', /timeouts\.default: expected a Go duration such as 30s/],
    ['', 'operational: { timeouts: { default: 0s } }', /timeouts\.default: expected a duration above zero/],
  ])('refuses invalid settings, with name and line: %s%s', async (replaced, section, sentence) => {
    const text = replaced === '' ? `${HEAD}${section}\n` : HEAD.replace(new RegExp(`^${replaced}:.*$`, 'm'), section);
    const found = await problems(read(text));
    expect(found.join('\n')).toMatch(sentence);
    expect(found[0]).toMatch(/^gateway\.yaml:\d+: /);
  });

  proves('choice.standalone.discovered-refused', 'refuses source discovered outside a cluster', async () => {
    const found = await problems(read(HEAD.replace('source: inline', 'source: discovered')));
    expect(found).toEqual([
      expect.stringMatching(/^gateway\.yaml:4: outgoingAuth\.source: discovered works only under/),
    ]);
  });

  proves(
    ['vmcp.config.outgoing-auth-source-discovered', 'vmcp.config.backends-empty-when-discovered'],
    'takes source discovered from the operator, without listed backends and with it only',
    async () => {
      const kubernetes = 'kubernetes: { backends: dev-vmcp-backends, report: dev-vmcp-report }\n';
      const discovered = HEAD.replace('source: inline', 'source: discovered') + kubernetes;
      const { plugins = [], outgoingAuth } = (await read(discovered)).plan;
      expect(outgoingAuth?.default).toEqual({
        type: 'discovered',
        options: { default: { type: 'unauthenticated' } },
      });
      const uses = plugins.map(({ use }) => use);
      expect(uses).toEqual(expect.arrayContaining(['backend-sources/kubernetes', 'outgoing-auth/token-exchange']));
      expect(uses).not.toContain('backend-sources/group');
      expect(await problems(read(HEAD + kubernetes))).toEqual([
        expect.stringMatching(/outgoingAuth\.source: inline would ignore the credentials of discovered backends/),
      ]);
      const listed = "backends: [{ name: a, url: 'http://a/mcp', transport: sse }]\n";
      expect(await problems(read(discovered + listed))).toEqual([
        expect.stringMatching(/kubernetes\.backends: discovered backends and listed ones exclude each other/),
      ]);
    },
  );

  it('refuses strategies and timeouts of unknown backends, and only warns about their tools', async () => {
    const text = `name: dev
groupRef: dev
incomingAuth: { type: anonymous }
outgoingAuth: { source: inline, backends: { githb: { type: unauthenticated } } }
aggregation: { tools: [{ workload: githb }] }
backends: [{ name: github, url: 'http://g/mcp', transport: sse }]
operational: { timeouts: { perWorkload: { docs: 1s } } }
`;
    expect(await problems(read(text))).toEqual([
      'gateway.yaml:4: outgoingAuth.backends.githb: no backend is named "githb", did you mean "github"?',
      'gateway.yaml:7: operational.timeouts.perWorkload.docs: no backend is named "docs" (backends: github)',
    ]);
    const mended = text.replace('githb: {', 'github: {').replace('docs: 1s', 'github: 1s');
    expect((await read(mended)).warnings).toEqual([
      'gateway.yaml:5: aggregation.tools[0].workload: no backend is named "githb", did you mean "github"?',
    ]);
  });

  describe('sessionStorage', () => {
    const storage = (section: string) => `${HEAD}sessionStorage: ${section}\n`;

    proves(
      ['vmcp.config.session-storage-provider', 'vmcp.config.session-storage-address', 'vmcp.config.session-storage-db'],
      'accepts memory without settings, and redis with its address',
      async () => {
        expect((await read(storage('{ provider: memory }'))).warnings).toEqual([]);
        const redis = storage('{ provider: redis, address: "r:6379", db: 2147483647, keyPrefix: "a:" }');
        expect((await read(redis)).warnings).toEqual([]);
        expect(await problems(read(storage('{ provider: redis, address: "r:1", db: 2147483648 }')))).toEqual([
          expect.stringMatching(/^gateway\.yaml:6: sessionStorage\.db: .*2147483647/),
        ]);
      },
    );

    proves(
      ['choice.store.redis-sentinel', 'choice.store.redis-cluster', 'choice.store.redis-acl-user'],
      'accepts Sentinel, a Cluster and an ACL user, and reports what excludes each other',
      async () => {
        const sentinel = 'sentinelConfig: { masterName: m, sentinelAddrs: ["s:1"] }, sentinelTls: {}';
        const login = 'aclUserConfig: { passwordSecretRef: { env: P } }, tls: { caCertSecretRef: { file: /ca } }';
        const accepted = [
          `{ provider: redis, ${sentinel}, ${login} }`,
          '{ provider: redis, address: r, clusterMode: true }',
        ];
        for (const section of accepted) expect((await read(storage(section))).warnings).toEqual([]);
        expect(await problems(read(storage(`{ provider: redis, address: r, ${sentinel} }`)))).toEqual([
          'gateway.yaml:6: sessionStorage.address: excludes sentinelConfig',
        ]);
        expect(await problems(read(storage('{ provider: redis, address: r, tls: { ca: x } }')))).toEqual([
          expect.stringContaining('gateway.yaml:6: sessionStorage.tls'),
        ]);
      },
    );

    it('reports settings without effect for memory', async () => {
      const given = storage('{ provider: memory, address: "r:1", db: 0, keyPrefix: "a:" }');
      expect((await read(given)).warnings).toEqual([
        'gateway.yaml:6: sessionStorage.address: has no effect with provider memory',
        'gateway.yaml:6: sessionStorage.keyPrefix: has no effect with provider memory',
      ]);
    });
  });

  describe('outgoingAuth', () => {
    const withStrategy = (strategy: string) =>
      problems(read(HEAD.replace('source: inline', `source: inline, default: ${strategy}`)));
    const header = (options: string) => withStrategy(`{ type: header_injection, headerInjection: ${options} }`);

    proves('vmcp.config-outgoing.source-required', 'needs its source', async () => {
      expect(await problems(read(HEAD.replace('{ source: inline }', '{}')))).toEqual([
        'gateway.yaml:4: outgoingAuth.source: expected one of inline, discovered',
      ]);
    });

    proves('vmcp.config-outgoing.type-required', 'needs a type in every strategy', async () => {
      expect(await withStrategy('{}')).toEqual([
        expect.stringMatching(/outgoingAuth\.default\.type: expected one of unauthenticated/),
      ]);
    });

    proves('vmcp.config-outgoing.header-name', 'needs the name of the header', async () => {
      expect(await header('{ headerValue: a }')).toEqual([
        'gateway.yaml:4: outgoingAuth.default.headerInjection.headerName: missing, expected a string',
      ]);
    });

    proves('vmcp.config-outgoing.header-one-value', 'takes exactly one of value and variable', async () => {
      for (const options of ['{ headerName: a }', '{ headerName: a, headerValue: b, headerValueEnv: C }']) {
        expect(await header(options)).toEqual([expect.stringMatching(/headerInjection: set exactly one of/)]);
      }
    });

    proves(
      'vmcp.config-outgoing.backends-same-fields',
      'takes the same fields for one backend as for all',
      async () => {
        const strategy = '{ type: header_injection, headerInjection: { headerName: A, headerValueEnv: B } }';
        const both = HEAD.replace(
          'source: inline',
          `source: inline, default: ${strategy}, backends: { one: ${strategy} }`,
        );
        const { config } = await read(both);
        expect(config.outgoingAuth.backends?.one).toEqual(config.outgoingAuth.default);
        const wrong = both.replace('backends: { one: { type', 'backends: { one: { typ');
        expect((await problems(read(wrong))).join()).toMatch(/outgoingAuth\.backends\.one\.typ: unknown key .*"type"/);
      },
    );
  });

  describe('incomingAuth', () => {
    proves('vmcp.config-incoming.type-required', 'needs its type', async () => {
      expect(await problems(read(HEAD.replace('{ type: anonymous }', '{}')))).toEqual([
        'gateway.yaml:3: incomingAuth.type: expected one of anonymous, local, oidc',
      ]);
    });
  });

  describe('backends[]', () => {
    const one = (fields: string) => withHead(`backends:\n  - { ${fields} }\n`);
    const GOOD = 'name: a, url: "http://a.example/mcp", transport: sse';

    proves('vmcp.backends.name', 'need a name', async () => {
      expect(await problems(one('url: "http://a/mcp", transport: sse'))).toEqual([
        'gateway.yaml:7: backends[0].name: missing, expected a string',
      ]);
    });

    proves('vmcp.backends.url', 'need an http or https URL', async () => {
      expect((await problems(one('name: a, transport: sse'))).join()).toMatch(/backends\[0\]\.url: .*needs a url/);
      expect((await problems(one('name: a, transport: sse, url: "ws://a"'))).join()).toMatch(/must begin with http/);
      for (const scheme of ['http', 'https']) await one(`name: a, transport: sse, url: "${scheme}://a/mcp"`);
    });

    proves('vmcp.backends.transport', 'need sse or streamable-http', async () => {
      expect((await problems(one('name: a, url: "http://a/mcp"'))).join()).toMatch(
        /backends\[0\]\.transport: expected one of sse, streamable-http/,
      );
      for (const transport of ['sse', 'streamable-http'])
        await one(`name: a, url: "http://a/mcp", transport: ${transport}`);
    });

    proves(
      ['vmcp.backends.type', 'vmcp.backends.ca-bundle-path'],
      'have the type entry or none, and a CA file only with it',
      async () => {
        for (const type of ['entry', '""']) await one(`${GOOD}, type: ${type}`);
        expect((await problems(one(`${GOOD}, type: remote`))).join()).toMatch(
          /backends\[0\]\.type: expected one of entry/,
        );
        await one(`${GOOD}, type: entry, caBundlePath: /etc/ca.pem`);
        expect((await problems(one(`${GOOD}, caBundlePath: /etc/ca.pem`))).join()).toMatch(
          /caBundlePath applies only to backends of type entry/,
        );
      },
    );

    proves('vmcp.backends.metadata', 'have metadata of text', async () => {
      await one(`${GOOD}, metadata: { team: a }`);
      expect((await problems(one(`${GOOD}, metadata: { team: 5 }`))).join()).toMatch(/backends\[0\]\.metadata\.team: /);
    });
  });

  it('never repeats a secret in a problem', async () => {
    const secret = 'value: hunter2';
    const text = HEAD.replace(
      'source: inline',
      `source: inline, default: { type: header_injection, headerInjection: { headerName: "a b", headerValue: "${secret}", headerValueEnv: X } }`,
    );
    expect((await problems(read(text))).join('\n')).not.toContain('hunter2');
  });

  it.each([
    ['an incomplete file', 'name: [a', /^gateway\.yaml:1: /],
    ['a duplicate key', 'name: a\nname: b\n', /^gateway\.yaml:2: the key name is a duplicate/],
    ['a list', '- a\n', /^gateway\.yaml:1: /],
    ['nothing', '', /^gateway\.yaml:1: /],
    [
      'an exponential expansion of aliases',
      `a: &a [1,1,1,1,1,1,1,1,1,1]\n${'bcdefgh'.replace(/./g, (c) => `${c}: &${c} [${`*${String.fromCharCode(c.charCodeAt(0) - 1)},`.repeat(9)}*${String.fromCharCode(c.charCodeAt(0) - 1)}]\n`)}`,
      /gateway\.yaml/,
    ],
  ])('refuses %s with a line', async (_what, text, sentence) => {
    expect((await problems(read(text)))[0]).toMatch(sentence);
  });

  it('is bounded in size', async () => {
    expect((await problems(read(`# ${'x'.repeat(4 * 1024 * 1024)}`)))[0]).toMatch(/larger than/);
  });
});
