import { describe, expect, it } from 'vitest';
import { proves } from '../../../support/proves.ts';
import { conditions, entry, GROUP, messageOf, object, podOf, resolveYaml, secret, server } from './resolve-yaml.ts';

const fileOf = async (text: string, defaults = {}) =>
  podOf(await resolveYaml(text, defaults)).config as unknown as Readonly<Record<string, unknown>>;

describe('spec.groupRef', () => {
  proves(
    ['vmcp.related.group', 'vmcp.spec.group-ref-namespace'],
    'names an MCPGroup of the namespace that exists and is ready',
    async () => {
      expect(conditions(await resolveYaml(server()))).toContain('GroupRefValidated=True/GroupRefValid');
      const elsewhere = GROUP.replace('name: group', 'name: group, namespace: other');
      const foreign = await resolveYaml(server().replace(GROUP, elsewhere));
      expect(conditions(foreign)).toContain('GroupRefValidated=False/GroupRefNotFound');
      const missing = await resolveYaml(server().replace(GROUP, ''));
      expect(conditions(missing)).toContain('GroupRefValidated=False/GroupRefNotFound');
      expect(missing.outcome).toMatchObject({
        result: 'failed',
        phase: 'Failed',
        message: expect.stringContaining('there is no MCPGroup group'),
      });
      const pending = await resolveYaml(`${server()}status: { phase: Pending }\n`);
      expect(conditions(pending)).toContain('GroupRefValidated=False/GroupRefNotReady');
      expect(pending.outcome).toMatchObject({ result: 'waiting', phase: 'Pending' });
      expect(pending.pod).toBeUndefined();
    },
  );
});

describe('the members of the group', () => {
  const container = (name: string, spec = '', status = '') =>
    object('MCPServer', name, `spec: { groupRef: { name: group }, image: x${spec} }${status}`);
  const running = (url: string) => `\nstatus: { url: "${url}" }`;

  it('are backends of three kinds, sorted by name', async () => {
    const text =
      entry('c') +
      object(
        'MCPRemoteProxy',
        'b',
        'spec: { groupRef: { name: group }, remoteUrl: "https://far.example.com/mcp" }\nstatus: { url: "http://b:8080/mcp" }',
      ) +
      container('a', ', transport: stdio, proxyMode: sse', running('http://a:8080/sse')) +
      object('MCPServer', 'elsewhere', 'spec: { groupRef: { name: other }, image: x }\nstatus: { url: "http://e" }');
    const { document } = podOf(await resolveYaml(server() + text));
    expect(
      document?.backends.map(({ name, url, transport, type, metadata }) => [
        name,
        url,
        transport,
        type,
        metadata?.workload_type,
      ]),
    ).toEqual([
      ['a', 'http://a:8080/sse', 'sse', undefined, 'mcp_server'],
      ['b', 'http://b:8080/mcp', 'streamable-http', undefined, 'remote_proxy'],
      ['c', 'https://c.example.com/mcp', 'streamable-http', 'entry', 'server_entry'],
    ]);
    expect(document?.backends[0]?.metadata).toEqual({
      tool_type: 'mcp',
      workload_type: 'mcp_server',
      namespace: 'team',
      group: 'group',
    });
  });

  it('have their annotations as metadata, without those of tools', async () => {
    const annotated = entry('a').replace(
      'metadata: { name: a }',
      'metadata: { name: a, annotations: { team: x, group: mine, kubectl.kubernetes.io/last-applied-configuration: "{}", meta.helm.sh/release-name: y } }',
    );
    const { document } = podOf(await resolveYaml(server() + annotated));
    expect(document?.backends[0]?.metadata).toMatchObject({ team: 'x', group: 'group' });
    expect(Object.keys(document?.backends[0]?.metadata ?? {})).toHaveLength(6);
  });

  it('are left out while they have no URL', async () => {
    const resolution = await resolveYaml(server() + container('a', '', '\nstatus: { phase: Pending }'));
    expect(resolution.effective).toEqual([{ name: 'a', problem: 'it has no URL yet' }]);
    expect(resolution.outcome.result).toBe('ready');
  });

  it('of one name are one backend, the same each time, and a condition says so', async () => {
    const one = container('a', '', running('http://a:8080/mcp'));
    for (const text of [one + entry('a'), entry('a') + one]) {
      const resolution = await resolveYaml(server() + text);
      expect(resolution.effective.map(({ url }) => url)).toEqual(['http://a:8080/mcp']);
      expect(conditions(resolution)).toContain('BackendNameConflict=True/NamesNotUnique');
      expect(messageOf(resolution, 'BackendNameConflict')).toContain('a: MCPServer is used, not MCPServerEntry');
    }
  });
});

describe('composite tools', () => {
  const tool = (name: string) => `{ name: ${name}, steps: [{ id: s, tool: a.search }] }`;
  const definition = (name: string, spec = tool(name), status = '') =>
    object('VirtualMCPCompositeToolDefinition', name, `spec: ${spec}${status}`);
  const refs = (...names: string[]) => `compositeToolRefs: [${names.map((name) => `{ name: ${name} }`).join(', ')}]`;

  proves(
    ['vmcp.config.composite-tool-refs', 'vmcp.related.composite-tool-definition'],
    'are those of the file and the referenced ones',
    async () => {
      const text = server(`config: { compositeTools: [${tool('one')}], ${refs('two')} }`) + definition('two');
      const resolution = await resolveYaml(text + entry('a'));
      const file = podOf(resolution).config as { compositeTools?: { name: string }[]; compositeToolRefs?: unknown };
      expect(file.compositeTools?.map(({ name }) => name)).toEqual(['one', 'two']);
      expect(file.compositeToolRefs).toBeUndefined();
      expect(conditions(resolution)).toContain('CompositeToolRefsValidated=True/CompositeToolRefsValid');
    },
  );

  const failures: readonly [string, string, string, string][] = [
    ['a missing definition', `{ ${refs('two')} }`, '', 'CompositeToolRefNotFound'],
    [
      'a duplicate',
      `{ compositeTools: [${tool('two')}], ${refs('two')} }`,
      definition('two'),
      'CompositeToolRefInvalid',
    ],
    [
      'one that its controller refused',
      `{ ${refs('two')} }`,
      definition('two', tool('two'), '\nstatus: { validationStatus: Invalid, validationErrors: [it is wrong] }'),
      'CompositeToolRefInvalid',
    ],
    [
      'an invalid one',
      `{ ${refs('two')} }`,
      definition('two', '{ name: two, steps: [{ id: s, type: forEach }] }'),
      'CompositeToolRefInvalid',
    ],
  ];
  it.each(failures)('with %s are an error', async (_, config, objects, reason) => {
    const resolution = await resolveYaml(server(`config: ${config}`) + objects + entry('a'));
    expect(conditions(resolution)).toContain(`CompositeToolRefsValidated=False/${reason}`);
    expect(resolution.outcome).toMatchObject({ result: 'failed', phase: 'Failed' });
  });
});

describe('aggregation', () => {
  const tools = object(
    'MCPToolConfig',
    'short',
    'spec: { toolsFilter: [search], toolsOverride: { search: { name: find } } }',
  );
  const using = (more = '') =>
    `config: { aggregation: { tools: [{ workload: a, toolConfigRef: { name: short }${more} }] } }`;

  proves(
    ['vmcp.aggregation.tool-config-ref', 'vmcp.aggregation.tool-config-ref-wins', 'vmcp.related.tool-config'],
    'takes filter and overrides of the MCPToolConfig, and warns of those in the file, which are ignored',
    async () => {
      const resolution = await resolveYaml(server(using()) + tools + entry('a'));
      const expected = { tools: [{ workload: 'a', filter: ['search'], overrides: { search: { name: 'find' } } }] };
      expect(podOf(resolution).config).toMatchObject({ aggregation: expected });
      expect(conditions(resolution).join()).not.toContain('ToolConfigRefPrecedence');
      const both = await resolveYaml(server(using(', filter: [mine]')) + tools + entry('a'));
      expect(podOf(both).config).toMatchObject({ aggregation: expected });
      expect(conditions(both)).toContain('ToolConfigRefPrecedence=True/InlineSettingsIgnored');
      const missing = await resolveYaml(server(using()) + entry('a'));
      expect(messageOf(missing, 'Valid')).toContain('there is no MCPToolConfig short');
      expect(missing.outcome.result).toBe('failed');
    },
  );

  it('with an error is a condition, and no new file', async () => {
    const resolution = await resolveYaml(server('config: { aggregation: { conflictResolution: priority } }'));
    expect(conditions(resolution)).toContain('Valid=False/ValidationFailed');
    expect(messageOf(resolution, 'Valid')).toContain('spec.config.aggregation.conflictResolutionConfig.priorityOrder');
    expect(resolution.pod).toBeUndefined();
  });
});

describe('telemetry', () => {
  const config = (spec: string) => object('MCPTelemetryConfig', 'otel', `spec: ${spec}`);

  proves(
    [
      'vmcp.related.telemetry-config',
      'vmcp.config.telemetry-deprecated',
      'vmcp.telemetry-config-ref.service-name-default',
    ],
    'comes from the MCPTelemetryConfig; config.telemetry is ignored with a condition',
    async () => {
      const written = 'config: { telemetry: { enablePrometheusMetricsPath: true } }';
      const ignored = await resolveYaml(server(written));
      expect(podOf(ignored).config).not.toHaveProperty('telemetry');
      expect(conditions(ignored)).toContain('TelemetryConfigIgnored=True/UseTelemetryConfigRef');
      const spec =
        '{ openTelemetry: { enabled: true, endpoint: "https://otel:4318", headers: { a: b }, sensitiveHeaders: [{ name: X-Key, secretKeyRef: { name: keys, key: otel } }], resourceAttributes: { team: x }, tracing: { enabled: true, samplingRate: "0.5" }, metrics: { enabled: true }, useLegacyAttributes: false }, prometheus: { enabled: true } }';
      const text = server('telemetryConfigRef: { name: otel }') + config(spec) + secret('keys', { otel: 'hunter2' });
      const resolution = await resolveYaml(text);
      expect((podOf(resolution).config as { telemetry?: unknown }).telemetry).toEqual({
        serviceName: 'toolmgr-tools',
        enablePrometheusMetricsPath: true,
        endpoint: 'https://otel:4318',
        headers: { a: 'b' },
        headersEnv: { 'X-Key': 'TOOLMGR_OTEL_HEADER_X_KEY' },
        tracingEnabled: true,
        samplingRate: '0.5',
        metricsEnabled: true,
        customAttributes: { 'service.namespace': 'team', team: 'x' },
        useLegacyAttributes: false,
      });
      expect(podOf(resolution).env).toEqual([
        { name: 'TOOLMGR_OTEL_HEADER_X_KEY', valueFrom: { secretKeyRef: { name: 'keys', key: 'otel' } } },
      ]);
      expect(conditions(resolution)).toContain('TelemetryConfigRefValidated=True/TelemetryConfigRefValid');
      expect(resolution.hashes.telemetryConfigHash).toMatch(/^[0-9a-f]{64}$/);
    },
  );

  it.each([
    ['missing', '', 'TelemetryConfigRefNotFound'],
    [
      'without an endpoint',
      config('{ openTelemetry: { enabled: true, tracing: { enabled: true } } }'),
      'TelemetryConfigRefInvalid',
    ],
    [
      'without its secret',
      config(
        '{ openTelemetry: { enabled: true, sensitiveHeaders: [{ name: a, secretKeyRef: { name: gone, key: k } }] } }',
      ),
      'TelemetryConfigRefInvalid',
    ],
  ])('fails when its configuration is %s', async (_, objects, reason) => {
    const resolution = await resolveYaml(server('telemetryConfigRef: { name: otel }') + objects);
    expect(conditions(resolution)).toContain(`TelemetryConfigRefValidated=False/${reason}`);
    expect(resolution.outcome.result).toBe('failed');
  });
});

describe('session storage', () => {
  const REDIS =
    'sessionStorage: { provider: redis, address: "redis:6379", passwordRef: { name: redis, key: password } }';
  const PASSWORD = secret('redis', { password: 'hunter2' });
  const defaults = { redis: { address: 'shared:6379', password: { name: 'redis', key: 'password' } } };

  proves(
    'vmcp.spec.session-storage-absent',
    'is that of the spec, then that of the file, then that of the installation, else none',
    async () => {
      const inFile = 'config: { sessionStorage: { provider: memory } }';
      const keyPrefix = 'toolmgr:team:tools:';
      expect(await fileOf(server(`${REDIS}, ${inFile}`) + PASSWORD, defaults)).toMatchObject({
        sessionStorage: { provider: 'redis', address: 'redis:6379', keyPrefix },
      });
      expect((await fileOf(server(inFile), defaults)).sessionStorage).toEqual({ provider: 'memory' });
      const installed = await resolveYaml(server() + PASSWORD, defaults);
      expect(podOf(installed).config).toMatchObject({ sessionStorage: { address: 'shared:6379', keyPrefix } });
      expect(podOf(installed).env).toEqual([
        { name: 'TOOLMGR_SESSION_REDIS_PASSWORD', valueFrom: { secretKeyRef: { name: 'redis', key: 'password' } } },
      ]);
      expect(await fileOf(server())).not.toHaveProperty('sessionStorage');
    },
  );

  proves('choice.store.redis-acl-user', 'mounts the secrets that the section of the file names', async () => {
    const storage =
      'config: { sessionStorage: { provider: redis, sentinelConfig: { masterName: main, sentinelService: { name: s } }, aclUserConfig: { passwordSecretRef: { name: redis, key: password } } } }';
    const pod = podOf(await resolveYaml(server(storage) + PASSWORD));
    expect(pod.config).toMatchObject({ sessionStorage: { sentinelConfig: { masterName: 'main' } } });
    expect(pod.env).toEqual([{ name: 'TOOLMGR_SECRETS_DIR', value: '/etc/toolmgr/secrets' }]);
    expect(JSON.stringify(pod.volumes)).toContain('"redis"');
    const missing = await resolveYaml(server(storage));
    expect(conditions(missing)).toContain('AuthConfigured=False/AuthInvalid');
    expect(JSON.stringify(missing)).toContain('spec.config.sessionStorage.aclUserConfig.passwordSecretRef');
  });

  it.each(['chain: { signingKeyRef: REF }', 'webhook: { url: "https://siem.test", hmacSecretRef: REF }'])(
    'is not alone: the secret of audit %s is mounted too, and has to exist',
    async (given) => {
      const audit = `config: { audit: { enabled: true, ${given.replace('REF', '{ name: evidence, key: key }')} } }`;
      const pod = podOf(await resolveYaml(server(audit) + secret('evidence', { key: 'pem' })));
      expect(pod.env).toEqual([{ name: 'TOOLMGR_SECRETS_DIR', value: '/etc/toolmgr/secrets' }]);
      expect(JSON.stringify(pod.volumes)).toContain('"evidence"');
      const missing = await resolveYaml(server(audit));
      expect(conditions(missing)).toContain('AuthConfigured=False/AuthInvalid');
      expect(JSON.stringify(missing)).toContain('spec.config.audit.');
    },
  );

  it('fails without its password', async () => {
    const resolution = await resolveYaml(server(REDIS));
    expect(conditions(resolution)).toContain('AuthConfigured=False/AuthInvalid');
    expect(resolution.events.map(({ reason }) => reason)).toEqual(['SecretValidationFailed']);
  });

  it.each([
    ['replicas: 1', 'False/SessionStorageWarningNotApplicable'],
    ['replicas: 3', 'True/SessionStorageMissingForReplicas'],
    [`replicas: 3, ${REDIS}`, 'False/SessionStorageConfigured'],
  ])('with %s tells %s', async (spec, expected) => {
    expect(conditions(await resolveYaml(server(spec) + PASSWORD))).toContain(`SessionStorageWarning=${expected}`);
  });
});

describe('the optimizer', () => {
  const embedding = (status: string) => object('EmbeddingServer', 'emb', `spec: {}\nstatus: ${status}`);
  const READY = embedding('{ phase: Ready, url: "http://emb.team.svc.cluster.local:8080" }');
  const REF = 'embeddingServerRef: { name: emb }';

  proves(
    'vmcp.related.embedding-server',
    'uses the referenced EmbeddingServer, also when the file has no optimizer',
    async () => {
      const resolution = await resolveYaml(server(REF) + READY);
      expect(podOf(resolution).config).toMatchObject({
        optimizer: { embeddingService: 'http://emb.team.svc.cluster.local:8080' },
      });
      expect(conditions(resolution)).toContain('EmbeddingServerReady=True/EmbeddingServerReady');
      expect(resolution.events).toEqual([]);
    },
  );

  proves(
    'vmcp.optimizer.embedding-service-overridden',
    'warns when the EmbeddingServer overrides a URL, and when a URL is used as it is',
    async () => {
      const url = 'config: { optimizer: { embeddingService: "http://other:80" } }';
      const overridden = await resolveYaml(server(`${REF}, ${url}`) + READY);
      expect(podOf(overridden).config).toMatchObject({
        optimizer: { embeddingService: expect.stringContaining('emb.team') },
      });
      expect(overridden.events).toMatchObject([{ type: 'Warning', reason: 'EmbeddingServiceOverridden' }]);
      const manual = await resolveYaml(server(url));
      expect(podOf(manual).config).toMatchObject({ optimizer: { embeddingService: 'http://other:80' } });
      expect(manual.events).toMatchObject([{ type: 'Warning', reason: 'EmbeddingServiceManual' }]);
    },
  );

  proves('vmcp.spec.embedding-server-ref-optimizer', 'needs an EmbeddingServer or a URL', async () => {
    const resolution = await resolveYaml(server('config: { optimizer: { maxToolsToReturn: 5 } }'));
    expect(resolution.outcome).toMatchObject({ result: 'failed', phase: 'Failed' });
    expect(messageOf(resolution, 'Valid')).toContain('spec.embeddingServerRef: missing');
    expect(resolution.pod).toBeUndefined();
  });

  proves('vmcp.spec.embedding-server-ref-ready', 'waits until the EmbeddingServer is ready', async () => {
    const waiting = await resolveYaml(server(REF) + embedding('{ phase: Pending }'));
    expect(waiting.outcome).toMatchObject({ result: 'waiting', phase: 'Pending' });
    expect(waiting.pod).toBeUndefined();
    expect((await resolveYaml(server(REF) + READY)).outcome.result).toBe('ready');
  });

  it.each([
    ['is missing', '', 'EmbeddingServerNotFound', 'failed', ['EmbeddingServerRefNotFound']],
    ['is downloading', embedding('{ phase: Downloading }'), 'EmbeddingServerNotReady', 'waiting', []],
    ['has failed', embedding('{ phase: Failed }'), 'EmbeddingServerNotReady', 'failed', []],
  ])('waits or fails while the EmbeddingServer %s', async (_, objects, reason, result, events) => {
    const resolution = await resolveYaml(server(REF) + objects);
    expect(conditions(resolution)).toContain(`EmbeddingServerReady=False/${reason}`);
    expect(resolution.outcome.result).toBe(result);
    expect(resolution.events.map((event) => event.reason)).toEqual(events);
    expect(resolution.pod).toBeUndefined();
  });
});

describe('other settings', () => {
  proves('vmcp.spec.passthrough-headers', 'of the spec win over those of the file', async () => {
    const config = 'config: { name: mine, passthroughHeaders: [x-file], audit: { enabled: true }, metadata: { a: b } }';
    expect(await fileOf(server(`passthroughHeaders: [x-spec], ${config}`))).toMatchObject({
      name: 'mine',
      passthroughHeaders: ['x-spec'],
      audit: { enabled: true, component: 'tools' },
      metadata: { a: 'b' },
    });
    expect(await fileOf(server(config))).toMatchObject({ passthroughHeaders: ['x-file'] });
  });

  it('that are forbidden are conditions, with all problems at once', async () => {
    const resolution = await resolveYaml(
      server(
        'passthroughHeaders: [Host], config: { operational: { failureHandling: { circuitBreaker: { timeout: 1ms } } } }',
        '{ type: oidc, oidcConfigRef: { name: gone, audience: a } }',
      ),
    );
    expect(conditions(resolution)).toContain('OIDCConfigRefValidated=False/OIDCConfigRefNotFound');
    expect(resolution.outcome.result).toBe('failed');
    const other = await resolveYaml(server('passthroughHeaders: [Host]'));
    expect(messageOf(other, 'Valid')).toContain('spec.config.passthroughHeaders[0]');
  });

  it('with timeouts of workloads that are no backends now are no error', async () => {
    const config =
      'config: { operational: { timeouts: { perWorkload: { a: 1s, gone: 2s } } } }, outgoingAuth: { source: inline }';
    const file = await fileOf(server(config) + entry('a'));
    expect(file).toMatchObject({ operational: { timeouts: { perWorkload: { a: '1s' } } } });
  });

  it('that are probably mistakes are told', async () => {
    const resolution = await resolveYaml(
      server('config: { aggregation: { tools: [{ workload: gitub }] } }') + entry('github'),
    );
    expect(messageOf(resolution, 'ConfigWarnings')).toContain('did you mean "github"');
    expect(resolution.outcome.result).toBe('ready');
  });

  it('have pull secrets of the spec and of the installation, each once', async () => {
    const { imagePullSecrets } = await resolveYaml(server('imagePullSecrets: [{ name: a }, { name: b }]'), {
      imagePullSecrets: ['b', 'c'],
    });
    expect(imagePullSecrets).toEqual([{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
  });

  it.each([
    ['{ spec: { containers: [{ name: vmcp, image: x }] } }', undefined],
    ['{ spec: { containers: [{ image: x }] } }', '.spec.containers[0].name: missing'],
    ['{ spec: { containers: {} } }', '.spec.containers: expected a list'],
    ['{ spec: [] }', '.spec: expected an object'],
    ['{ containers: [] }', '.containers: unknown'],
    ['{ metadata: { labels: { a: 1 } } }', '.metadata.labels: expected texts'],
  ])('podTemplateSpec %s is checked', async (template, problem) => {
    const resolution = await resolveYaml(server(`podTemplateSpec: ${template}`));
    const expected = problem === undefined ? 'True/ValidPodTemplateSpec' : 'False/InvalidPodTemplateSpec';
    expect(conditions(resolution)).toContain(`PodTemplateSpecValid=${expected}`);
    if (problem !== undefined) {
      expect(resolution.outcome).toMatchObject({ result: 'failed', message: expect.stringContaining(problem) });
      expect(resolution.events.map(({ reason }) => reason)).toEqual(['InvalidPodTemplateSpec']);
    }
  });
});
