import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { readWorkload, workloadDir } from '@toolmgr/plugins/kit/workloads';
import { afterAll, describe, expect, it } from 'vitest';
import { certificates } from '../../support/certificates.ts';
import { CLIENTS, identityProvider } from '../../support/identity-provider.ts';
import { postModern } from '../../support/open-endpoint.ts';
import { otlpReceiver } from '../../support/otlp-receiver.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { tokenEndpoint } from '../../support/token-endpoint.ts';
import { until } from '../../support/until.ts';
import { filesIn, planned, served } from './planned-gateway.ts';
import { toolmgrSession } from './toolmgr.ts';

const LONG = 120_000;
const AUDIENCE = 'https://tools.example/mcp';
const session = toolmgrSession();
const folder = temporaryFolderOfFile('policy');
const fileWith = filesIn(folder);
const far = await recordingServer();

afterAll(() => far[Symbol.asyncDispose]());

const withToken = (token: string | undefined) =>
  token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };

const list = (url: string, token?: string) => postModern(url, 'tools/list', {}, withToken(token));
const echo = (url: string, token?: string) =>
  postModern(url, 'tools/call', { name: 'echo', arguments: { message: 'hi' } }, withToken(token));

describe('the audit log of a workload', () => {
  proves('run.option.audit-config', 'is written as the file of --audit-config says', async () => {
    const logFile = join(folder, 'audit.log');
    const file = await fileWith('audit.json', {
      ...{ enabled: true, component: 'mine', eventTypes: ['mcp_tool_call'], logFile, includeRequestData: true },
    });
    await using given = await served(['--audit-config', file, far.url]);
    await list(given.url);
    await echo(given.url);
    await until(async () => (await readFile(logFile, 'utf8').catch(() => '')).includes('mcp_tool_call'));
    const lines = (await readFile(logFile, 'utf8')).trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('"component":"mine"');
    expect(given.planned.config.audit_config_path).toBe(file);
    const wrong = await fileWith('wrong-audit.json', { eventTypes: ['mcp_tool_cal'] });
    await expect(planned(['--audit-config', wrong, far.url])).rejects.toThrow(/--audit-config\.eventTypes/);
    await expect(planned(['--audit-config', file, '--enable-audit', far.url])).rejects.toThrow(
      /leave out --enable-audit/,
    );
  });

  proves(
    'run.option.enable-audit',
    'goes to the log of the proxy with --enable-audit, and there is none without it',
    async () => {
      expect((await planned([far.url])).plan.plugins).not.toContainEqual(expect.objectContaining({ use: 'audit' }));
      const state = temporaryFolder('audit');
      expect(await session(state, ['run', '--name', 'far', '--enable-audit', far.url])).toMatchObject({ code: 0 });
      await echo((await readWorkload(state, 'far'))?.status.url ?? '');
      const log = () => readFile(join(workloadDir(state, 'far'), 'proxy.log'), 'utf8');
      await until(async () => (await log()).includes('"type":"mcp_tool_call"'));
      expect(await log()).toContain('"component":"far"');
      await session(state, ['rm', '--force', 'far']);
    },
    LONG,
  );
});

describe('the policies of a workload', () => {
  proves('run.option.authz-config', 'are those of --authz-config, in lists and in calls', async () => {
    const policy = 'permit(principal, action == Action::"call_tool", resource == Tool::"echo");';
    const yaml = `version: "1.0"\ntype: cedarv1\ncedar:\n  policies:\n    - '${policy}'\n  entities_json: "[]"\n`;
    for (const file of [
      await fileWith('authz.yaml', yaml),
      await fileWith('authz.json', { version: '1.0', type: 'cedarv1', cedar: { policies: [policy] } }),
    ]) {
      await using given = await served(['--authz-config', file, far.url]);
      const { result } = (await list(given.url)).json;
      expect((result?.tools as { name: string }[]).map(({ name }) => name)).toEqual(['echo']);
      expect((await echo(given.url)).text).toContain('echo: hi');
      expect((await postModern(given.url, 'tools/call', { name: 'fail', arguments: {} })).json.error).toBeDefined();
    }
  });

  it('are refused before the start when the file is wrong', async () => {
    const cases: readonly [object, RegExp][] = [
      [{ version: '1.0', type: 'cedarv1', cedar: { policies: ['permit('] } }, /--authz-config\.policies\[0\]/],
      [{ version: '1.0', type: 'httpv1', pdp: {} }, /type: expected cedarv1/],
      [{ version: '1.0', type: 'cedarv1', cedar: { policies: [], policy: [] } }, /unknown key "policy"/],
    ];
    for (const [content, sentence] of cases) {
      await expect(planned(['--authz-config', await fileWith('x.json', content), far.url])).rejects.toThrow(sentence);
    }
  });
});

describe('the callers of a workload', () => {
  proves(
    [
      ...(['run.option.oidc-issuer', 'run.option.oidc-audience', 'run.option.oidc-scopes'] as const),
      ...(['run.option.oidc-scopes-default', 'run.option.resource-url'] as const),
      ...(['run.option.oidc-insecure-allow-http', 'run.option.jwks-allow-private-ip'] as const),
    ],
    'have a token of --oidc-issuer for --oidc-audience, and learn from the endpoint where to get one',
    async () => {
      await using idp = await identityProvider();
      const issuer = ['--oidc-issuer', idp.issuer, '--oidc-audience', AUDIENCE];
      const local = ['--oidc-insecure-allow-http', '--jwks-allow-private-ip'];
      await using given = await served([...issuer, ...local, '--resource-url', 'https://pub.example/x/mcp', far.url]);
      const refused = await list(given.url);
      expect(refused.status).toBe(401);
      expect(refused.headers.get('www-authenticate')).toContain('https://pub.example/.well-known/');
      expect((await list(given.url, idp.sign({ sub: 'ada', aud: 'other' }))).status).toBe(401);
      expect((await list(given.url, idp.sign({ sub: 'ada', aud: AUDIENCE }))).status).toBe(200);
      const metadata = await (await fetch(`${given.origin}/.well-known/oauth-protected-resource`)).json();
      expect(metadata).toMatchObject({
        resource: 'https://pub.example/x/mcp',
        authorization_servers: [idp.issuer],
        scopes_supported: ['openid'],
      });
      await using scoped = await served([...issuer, ...local, '--oidc-scopes', 'openid,mcp', far.url]);
      const other = await (await fetch(`${scoped.origin}/.well-known/oauth-protected-resource`)).json();
      expect(other).toMatchObject({ resource: AUDIENCE, scopes_supported: ['openid', 'mcp'] });
      await expect(planned([...issuer, '--jwks-allow-private-ip', far.url])).rejects.toThrow(
        /plain http is not allowed/,
      );
      await expect(planned([...issuer, '--oidc-insecure-allow-http', far.url])).rejects.toThrow(/jwksAllowPrivateIp/);
    },
    LONG,
  );

  proves(
    ['run.option.oidc-client-id', 'run.option.oidc-client-secret', 'run.option.oidc-introspection-url'],
    'may have opaque tokens with --oidc-introspection-url; the client secret is in no file but its own',
    async () => {
      await using idp = await identityProvider({ opaqueAudiences: [AUDIENCE] });
      const issuer = ['--oidc-issuer', idp.issuer, '--oidc-audience', AUDIENCE];
      const local = ['--oidc-insecure-allow-http', '--jwks-allow-private-ip'];
      const client = ['--oidc-client-id', CLIENTS.gateway.id, '--oidc-client-secret', CLIENTS.gateway.secret];
      const introspection = ['--oidc-introspection-url', `${idp.issuer}/token/introspection`];
      await using given = await served([...issuer, ...local, ...client, ...introspection, far.url]);
      expect((await list(given.url, await idp.agentToken(AUDIENCE))).status).toBe(200);
      expect((await list(given.url, 'unknown-token')).status).toBe(401);
      const { config, secrets, plan } = given.planned;
      expect(JSON.stringify([config, plan])).not.toContain(CLIENTS.gateway.secret);
      expect(secrets).toEqual({ OIDC_CLIENT_SECRET: CLIENTS.gateway.secret });
    },
    LONG,
  );

  proves(
    ['run.option.oidc-jwks-url', 'run.option.jwks-auth-token-file', 'run.option.tool-ca-bundle'],
    'are checked by the keys of --oidc-jwks-url, asked for with the token of --jwks-auth-token-file and the CAs of --tool-ca-bundle',
    async () => {
      await using idp = await identityProvider();
      const keys = {
        keys: idp.publicKeys().map(({ kid, alg, key }) => ({ ...key.export({ format: 'jwk' }), kid, alg })),
      };
      const asked: (string | undefined)[] = [];
      const server = createServer((request, response) => {
        asked.push(request.headers.authorization);
        const isKnown = request.headers.authorization === 'Bearer key-token';
        response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify(keys));
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
      const flags = ['--oidc-issuer', idp.issuer, '--oidc-audience', AUDIENCE, '--oidc-jwks-url', url];
      const local = ['--oidc-insecure-allow-http', '--jwks-allow-private-ip'];
      const token = ['--jwks-auth-token-file', await fileWith('token', 'key-token\n')];
      {
        await using given = await served([...flags, ...local, ...token, far.url]);
        expect((await list(given.url, idp.sign({ sub: 'ada', aud: AUDIENCE }))).status).toBe(200);
        expect(asked).toEqual(['Bearer key-token']);
        await using without = await served([...flags, ...local, far.url]);
        expect((await list(without.url, idp.sign({ sub: 'ada', aud: AUDIENCE }))).status).toBe(503);
      }
      server.close();
      const { ca, ...pair } = certificates();
      const secure = createTlsServer(pair, (_, response) => void response.end(JSON.stringify(keys)));
      await once(secure.listen(0, '127.0.0.1'), 'listening');
      {
        const over = `https://127.0.0.1:${(secure.address() as AddressInfo).port}/keys`;
        const tls = ['--oidc-issuer', idp.issuer, '--oidc-audience', AUDIENCE, '--oidc-jwks-url', over, ...local];
        await using trusting = await served([...tls, '--tool-ca-bundle', await fileWith('ca.pem', ca), far.url]);
        expect((await list(trusting.url, idp.sign({ sub: 'ada', aud: AUDIENCE }))).status).toBe(200);
        await using without = await served([...tls, far.url]);
        expect((await list(without.url, idp.sign({ sub: 'ada', aud: AUDIENCE }))).status).toBe(503);
      }
      secure.close();
      const missing = ['--tool-ca-bundle', join(folder, 'none.pem')];
      await expect(served([...flags, ...local, ...missing, far.url])).rejects.toThrow(/caBundlePath: cannot use/);
      expect((await planned([...flags, ...local, ...missing, far.url])).config).toMatchObject({
        tool_ca_bundle: join(folder, 'none.pem'),
        oidc_config: { cacertPath: join(folder, 'none.pem') },
      });
    },
    LONG,
  );

  it('are not checked halfway: a flag that needs another is refused', async () => {
    const cases: readonly [readonly string[], RegExp][] = [
      [['--oidc-audience', 'x'], /--oidc-audience needs --oidc-issuer/],
      [['--oidc-jwks-url', 'https://x.example'], /--oidc-jwks-url needs --oidc-issuer/],
      [['--oidc-issuer', 'https://x.example'], /--oidc-issuer needs --oidc-audience/],
      [['--oidc-issuer', 'https://x.example', '--oidc-audience', 'x', '--oidc-client-id', 'x'], /is only used with/],
      [['--token-exchange-url', 'https://x.example'], /--token-exchange-url needs --oidc-issuer/],
      [['--token-exchange-scopes', 'a'], /--token-exchange-scopes needs --token-exchange-url/],
      [['--otel-sampling-rate', '0.5'], /--otel-sampling-rate needs --otel-endpoint/],
    ];
    for (const [flags, sentence] of cases) await expect(planned([...flags, far.url])).rejects.toThrow(sentence);
  });
});

describe('the token of a caller', () => {
  proves(
    [
      ...(['run.option.token-exchange-url', 'run.option.token-exchange-audience'] as const),
      ...(['run.option.token-exchange-client-id', 'run.option.token-exchange-client-secret'] as const),
      ...(['run.option.token-exchange-client-secret-file', 'run.option.token-exchange-header-name'] as const),
      ...(['run.option.token-exchange-scopes', 'run.option.token-exchange-subject-token-type'] as const),
      'run.authentication.three-kinds',
    ],
    'is exchanged at --token-exchange-url for one that the server gets',
    async () => {
      await using idp = await identityProvider();
      await using endpoint = await tokenEndpoint({ clients: { me: 'client-s3cret' } });
      const caller = idp.sign({ sub: 'ada', aud: AUDIENCE });
      endpoint.subjects.set(caller, 'ada');
      const callers = ['--oidc-issuer', idp.issuer, '--oidc-audience', AUDIENCE];
      const local = ['--oidc-insecure-allow-http', '--jwks-allow-private-ip'];
      const exchange = ['--token-exchange-url', endpoint.url, '--token-exchange-client-id', 'me'];
      const secret = ['--token-exchange-client-secret', 'client-s3cret'];
      const file = ['--token-exchange-client-secret-file', await fileWith('client', 'client-s3cret\n')];
      const target = ['--token-exchange-audience', 'far', '--token-exchange-scopes', 'read,write'];
      {
        await using given = await served([...callers, ...local, ...exchange, ...secret, ...target, far.url]);
        expect((await echo(given.url, caller)).text).toContain('echo: hi');
        expect(far.calls.at(-1)?.authorization).toMatch(/^Bearer issued\.ada\./);
        const { form, client } = endpoint.requests.findLast((request) => request.form.subject_token === caller) ?? {};
        expect(client).toEqual({ id: 'me', secret: 'client-s3cret' });
        expect(form).toMatchObject({ audience: 'far', scope: 'read write' });
        expect(form?.subject_token_type).toBe('urn:ietf:params:oauth:token-type:access_token');
        expect(JSON.stringify([given.planned.config, given.planned.plan, given.log])).not.toContain('s3cret');
      }
      const other = ['--token-exchange-header-name', 'X-Upstream', '--token-exchange-subject-token-type', 'id_token'];
      const headers = ['--remote-forward-headers', 'X-Team=a', '--remote-auth-bearer-token', 'own-token'];
      await using given = await served([...callers, ...local, ...exchange, ...file, ...other, ...headers, far.url]);
      expect((await echo(given.url, caller)).text).toContain('echo: hi');
      expect(far.calls.at(-1)?.['x-upstream']).toMatch(/^Bearer issued\.ada\./);
      expect(far.calls.at(-1)?.['x-team']).toBe('a');
      expect(far.calls.at(-1)?.authorization).toBe('Bearer own-token');
      const { form } = endpoint.requests.findLast((request) => request.form.subject_token === caller) ?? {};
      expect(form?.subject_token_type).toBe('urn:ietf:params:oauth:token-type:id_token');
      await expect(planned([...callers, ...exchange, ...secret, ...file, far.url])).rejects.toThrow(
        /exclude each other/,
      );
      await expect(planned([...callers, ...exchange, 'node'])).rejects.toThrow(/a stdio program takes no headers/);
    },
    LONG,
  );
});

describe('the telemetry of a workload', () => {
  proves(
    [
      ...(['run.option.otel-endpoint', 'run.option.otel-headers', 'run.option.otel-insecure'] as const),
      ...(['run.option.otel-service-name', 'run.option.otel-sampling-rate'] as const),
      ...(['run.option.otel-custom-attributes', 'run.option.otel-env-vars'] as const),
      'run.option.otel-use-legacy-attributes',
    ],
    'goes to --otel-endpoint with the headers and attributes of the flags',
    async () => {
      await using collector = await otlpReceiver();
      process.env.TOOLMGR_TEST_REGION = 'north';
      const to = ['--otel-endpoint', collector.address, '--otel-insecure', '--otel-headers', 'x-key=otel-s3cret'];
      const more = ['--otel-sampling-rate', '1.0', '--otel-custom-attributes', 'team=a, site = b'];
      const spans = ['--otel-env-vars', 'TOOLMGR_TEST_REGION', '--name', 'far'];
      const given = await served([...to, ...more, ...spans, far.url]);
      await echo(given.url);
      await given[Symbol.asyncDispose]();
      const span = collector.spans.find(({ kind }) => kind === 2);
      expect(span?.resource).toMatchObject({ 'service.name': 'toolmgr-far', team: 'a', site: 'b' });
      expect(span?.attributes).toMatchObject({ 'environment.TOOLMGR_TEST_REGION': 'north' });
      expect(Object.keys(span?.attributes ?? {})).toContain('mcp.method');
      expect(collector.exports[0]?.headers['x-key']).toBe('otel-s3cret');
      expect(JSON.stringify([given.planned.config, given.log])).not.toContain('otel-s3cret');

      const before = collector.spans.length;
      const modern = [
        '--otel-use-legacy-attributes=false',
        '--otel-service-name',
        'other',
        '--otel-sampling-rate',
        '1',
      ];
      const second = await served([...to, ...modern, far.url]);
      await echo(second.url);
      await second[Symbol.asyncDispose]();
      const later = collector.spans.slice(before).find(({ kind }) => kind === 2);
      expect(later?.resource).toMatchObject({ 'service.name': 'other' });
      expect(Object.keys(later?.attributes ?? {})).not.toContain('mcp.method');
    },
    LONG,
  );

  proves(
    [
      ...(['run.option.otel-tracing-enabled', 'run.option.otel-metrics-enabled'] as const),
      ...(['run.option.otel-sampling-rate', 'run.option.otel-insecure'] as const),
    ],
    'is only what the flags ask for: traces, metrics, a share of the traces, plain http',
    async () => {
      const sent = async (...flags: string[]) => {
        await using collector = await otlpReceiver();
        const given = await served(['--otel-endpoint', collector.address, ...flags, far.url]);
        await echo(given.url);
        await given[Symbol.asyncDispose]();
        return { spans: collector.spans.length > 0, points: collector.points.length > 0 };
      };
      const all = ['--otel-insecure', '--otel-sampling-rate', '1'];
      expect(await sent(...all)).toEqual({ spans: true, points: true });
      expect(await sent(...all, '--otel-tracing-enabled=false')).toEqual({ spans: false, points: true });
      expect(await sent(...all, '--otel-metrics-enabled=false')).toEqual({ spans: true, points: false });
      expect(await sent('--otel-insecure', '--otel-sampling-rate', '0')).toEqual({ spans: false, points: true });
      expect(await sent('--otel-sampling-rate', '1')).toEqual({ spans: false, points: false }); // https
    },
    LONG,
  );

  proves(
    [
      ...(['run.option.otel-tracing-enabled', 'run.option.otel-metrics-enabled'] as const),
      ...(['run.option.otel-sampling-rate', 'run.option.otel-sampling-rate-range'] as const),
      'run.option.otel-enable-prometheus-metrics-path',
    ],
    'has traces and metrics by default, at a rate of 0.1, and /metrics only with its flag',
    async () => {
      const telemetryOf = async (...flags: string[]) => {
        const { plan } = await planned([...flags, far.url]);
        return plan.plugins.find(({ use }) => use === 'telemetry')?.with;
      };
      const to = ['--otel-endpoint', 'https://collector.example'];
      expect(await telemetryOf(...to)).toMatchObject({
        ...{ tracingEnabled: true, metricsEnabled: true, samplingRate: '0.1', useLegacyAttributes: true },
        enablePrometheusMetricsPath: false,
      });
      expect(await telemetryOf(...to, '--otel-tracing-enabled=false')).toMatchObject({ tracingEnabled: false });
      expect(await telemetryOf(...to, '--otel-metrics-enabled=false')).toMatchObject({ metricsEnabled: false });
      const off = ['--otel-metrics-enabled=false', '--otel-tracing-enabled=false'];
      expect(await telemetryOf(...to, ...off)).toBeUndefined();
      expect(await telemetryOf()).toBeUndefined();
      for (const rate of ['0', '0.0', '0.25', '1', '1.0'])
        expect(await telemetryOf(...to, '--otel-sampling-rate', rate)).toMatchObject({ samplingRate: rate });
      for (const rate of ['-0.1', '1.1', 'half', ''])
        await expect(telemetryOf(...to, `--otel-sampling-rate=${rate}`)).rejects.toThrow(/from 0.0 to 1.0/);

      await using given = await served(['--otel-enable-prometheus-metrics-path', far.url]);
      await echo(given.url);
      const metrics = await fetch(`${given.origin}/metrics`);
      expect(metrics.status).toBe(200);
      expect(await metrics.text()).toContain('mcp_server_operation_duration');
      await using without = await served([far.url]);
      expect((await fetch(`${without.origin}/metrics`)).status).toBe(404);
    },
    LONG,
  );
});

describe('requests to a remote server', () => {
  proves(
    'run.option.remote-forward-headers',
    'carry the headers of --remote-forward-headers, for URLs only',
    async () => {
      const headers = ['--remote-forward-headers', 'X-Team=a=b', '--remote-forward-headers', 'X-Site=c'];
      await using given = await served([...headers, far.url]);
      await echo(given.url);
      expect(far.calls.at(-1)).toMatchObject({ 'x-team': 'a=b', 'x-site': 'c' });
      expect(given.planned.config.header_forward).toEqual({
        add_plaintext_headers: { 'X-Team': 'a=b', 'X-Site': 'c' },
      });
      for (const name of ['Host', 'content-length', 'Proxy-Authorization', 'Mcp-Session-Id', 'a b'])
        await expect(planned(['--remote-forward-headers', `${name}=s3cret`, far.url]), name).rejects.toThrow(
          /--remote-forward-headers\.headers/,
        );
      expect((await planned(['--remote-forward-headers', 'X-Api-Key=a', far.url])).warnings.join()).toContain(
        'stored in run.json',
      );
      await expect(planned(['--remote-forward-headers', 'X-Team=a', 'node'])).rejects.toThrow(/is for URLs/);
    },
  );

  proves(
    ['run.option.remote-auth-bearer-token', 'run.option.remote-auth-bearer-token-file'],
    'carry the bearer token of the flag or of its file, which no log and no run.json holds',
    async () => {
      const state = temporaryFolder('bearer');
      const token = ['--remote-auth-bearer-token', 's3cret-token'];
      const ran = await session(state, ['run', '--debug', '--name', 'flag', ...token, far.url]);
      expect(ran).toMatchObject({ code: 0 });
      const file = await fileWith('bearer', ' s3cret-file \n');
      await session(state, ['run', '--name', 'file', '--remote-auth-bearer-token-file', file, far.url]);
      for (const [name, value] of [
        ['flag', 's3cret-token'],
        ['file', 's3cret-file'],
      ] as const) {
        await echo((await readWorkload(state, name))?.status.url ?? '');
        expect(far.calls.at(-1)?.authorization).toBe(`Bearer ${value}`);
        for (const place of ['run.json', 'status.json', 'proxy.log'])
          expect(await readFile(join(workloadDir(state, name), place), 'utf8'), place).not.toContain('s3cret');
      }
      expect((await stat(join(workloadDir(state, 'flag'), 'secrets.json'))).mode & 0o777).toBe(0o600);
      expect(ran.out + ran.err).not.toContain('s3cret');

      await writeFile(file, 's3cret-renewed');
      await session(state, ['stop', 'file', 'flag']);
      await session(state, ['start', 'file', 'flag']);
      await echo((await readWorkload(state, 'file'))?.status.url ?? '');
      expect(far.calls.at(-1)?.authorization).toBe('Bearer s3cret-renewed');
      await echo((await readWorkload(state, 'flag'))?.status.url ?? '');
      expect(far.calls.at(-1)?.authorization).toBe('Bearer s3cret-token');
      await session(state, ['rm', '--force', 'file', 'flag']);
      await expect(planned([...token, 'node'])).rejects.toThrow(/is for URLs/);
      await expect(planned([...token, '--remote-auth-bearer-token-file', file, far.url])).rejects.toThrow(
        /exclude each/,
      );
      await expect(planned(['--remote-auth-bearer-token-file', '/none', far.url])).rejects.toThrow(/cannot be read/);
    },
    LONG,
  );
});
