import { type Operation, type OperationRequest, operation, problem } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';

/** Texts that a page shows, from servers and registries. `text` gives a text for a place, so that a test can make all hostile. */
export interface PageTexts {
  readonly text: (place: string) => string;
}

/** What the operations of {@link pageOperations} hold. */
export interface PageState {
  readonly workloads: Map<string, { name: string; status: string; status_context: string }>;
  readonly secrets: Map<string, string>;
  readonly clients: Map<string, boolean>;
  readonly skills: Set<string>;
  provider: string | undefined;
  /** Bodies of requests that change something, by the id of the operation. */
  readonly bodies: { readonly id: string; readonly body: unknown }[];
}

type Request = OperationRequest<Record<string, string>, Record<string, string | undefined>, Record<string, unknown>>;
type Run = (request: Request) => Promise<unknown> | unknown;

/** Operations in memory with the paths and shapes of the real ones, for tests of the page. */
export function pageOperations({ text }: PageTexts): {
  readonly operations: readonly Operation[];
  readonly state: PageState;
} {
  const state: PageState = {
    workloads: new Map(),
    secrets: new Map([['stored-token', 'x']]),
    clients: new Map([
      ['cursor', false],
      ['vscode', true],
    ]),
    skills: new Set(['review']),
    provider: 'encrypted',
    bodies: [],
  };
  for (const [name, status] of [
    ['fetch', 'running'],
    ['github', 'stopped'],
    ['broken', 'error'],
  ] as const) {
    state.workloads.set(name, { name, status, status_context: status === 'error' ? text('reason') : '' });
  }
  const workload = (name: string) => ({
    ...state.workloads.get(name),
    group: text('default'),
    package: text('package'),
    port: 4500,
    url: `http://127.0.0.1:4500/mcp`,
    transport_type: 'stdio',
    proxy_mode: 'streamable-http',
    created_at: '2026-11-01T10:00:00Z',
    tools: [text('tool')],
    labels: { team: text('label') },
  });
  const entry = {
    name: 'io.example/weather',
    title: text('title'),
    description: text('description'),
    overview: `# Weather\n\n${text('overview')}`,
    image: 'ghcr.io/example/weather:1.2.0',
    transport: 'stdio',
    tier: 'Community',
    status: 'active',
    repository_url: text('repository') === 'repository' ? 'https://github.com/example/weather' : text('repository'),
    tags: [text('tag')],
    tools: [text('tool'), 'forecast'],
    metadata: { stars: 1234, last_updated: '2026-11-01T10:00:00Z' },
    env_vars: [
      { name: 'UNITS', description: text('variable'), default: 'metric', choices: ['metric', 'imperial'] },
      { name: 'API_KEY', description: text('secret'), required: true, secret: true },
    ],
    permissions: { network: { outbound: { allow_host: ['api.weather.example', text('host')], allow_port: [443] } } },
  };
  const job = (request: Request, title: string, names: readonly string[], work: (name: string) => void) => {
    const id = request.context.jobs.start(
      title,
      names.map((name) => ({
        name,
        run: async (report) => {
          report(`works on ${name}`);
          await new Promise((done) => setTimeout(done, 150));
          work(name);
          return { status: 'done' as const };
        },
      })),
    );
    return { status: 202, body: '', headers: { location: `/api/v1beta/operations/${id}` } };
  };
  const setStatus = (request: Request, name: string, status: string): void => {
    const found = state.workloads.get(name);
    if (found !== undefined) found.status = status;
    request.context.publish({ type: 'workload', name, status });
  };
  const ok = (body: unknown, status = 200) => ({ status, body });
  const check = {
    workload_name: 'fetch',
    status: 'upgrade-available',
    current_image: 'ghcr.io/example/fetch:1.0.0',
    candidate_image: 'ghcr.io/example/fetch:1.1.0',
    env_var_drift: { added: [{ name: 'NEW_TOKEN', description: text('variable'), required: true, secret: true }] },
    config_drift: { transport: { from: 'stdio', to: text('transport') } },
  };
  const pin = {
    gateway: 'team',
    backend: 'github',
    kind: 'tool',
    name: text('pin'),
    hash: `sha256:${'3f9d'.repeat(16)}`,
    state: 'held',
    since: '2026-11-02T10:00:00.000Z',
    reason: text('reason'),
  };
  const table: Readonly<Record<string, readonly [Operation['method'], string, Run, z.ZodType?]>> = {
    listWorkloads: ['GET', '/api/v1beta/workloads', () => ok({ workloads: [...state.workloads.keys()].map(workload) })],
    createWorkload: [
      'POST',
      '/api/v1beta/workloads',
      (request) => {
        const name = String(request.body.name);
        if (state.workloads.has(name))
          return problem('conflict', `there is a workload ${name} already`, [
            { in: 'body', path: 'name', detail: 'it is taken' },
          ]);
        state.workloads.set(name, { name, status: 'running', status_context: '' });
        request.context.publish({ type: 'workload', name, status: 'running' });
        return ok({ name, port: 4501 }, 201);
      },
      WORKLOAD,
    ],
    getWorkload: [
      'GET',
      '/api/v1beta/workloads/{name}',
      () =>
        ok({
          name: 'fetch',
          image: 'ghcr.io/example/fetch:1.0.0',
          env_vars: { LEVEL: text('value') },
          secrets: [{ name: 'stored-token', target: 'TOKEN' }],
          tools: [],
          network_isolation: true,
        }),
    ],
    exportWorkload: [
      'GET',
      '/api/v1beta/workloads/{name}/export',
      ({ path }) => ok({ schema_version: 'v0.1.0', name: path.name, image: text('image') }),
    ],
    updateWorkload: [
      'POST',
      '/api/v1beta/workloads/{name}/edit',
      ({ path }) => ok({ name: path.name, port: 4500 }),
      WORKLOAD,
    ],
    stopWorkload: [
      'POST',
      '/api/v1beta/workloads/{name}/stop',
      (request) => job(request, 'stop', [request.path.name ?? ''], (name) => setStatus(request, name, 'stopped')),
    ],
    restartWorkload: [
      'POST',
      '/api/v1beta/workloads/{name}/restart',
      (request) => job(request, 'restart', [request.path.name ?? ''], (name) => setStatus(request, name, 'running')),
    ],
    deleteWorkload: [
      'DELETE',
      '/api/v1beta/workloads/{name}',
      (request) =>
        job(request, 'delete', [request.path.name ?? ''], (name) => {
          state.workloads.delete(name);
          request.context.publish({ type: 'workload', name, status: 'removed' });
        }),
    ],
    getWorkloadLogs: ['GET', '/api/v1beta/workloads/{name}/logs', () => ({ status: 200, stream: logLines(text) })],
    getProxyLogs: ['GET', '/api/v1beta/workloads/{name}/proxy-logs', () => ({ status: 200, stream: logLines(text) })],
    checkUpgrades: ['GET', '/api/v1beta/workloads/upgrade-check', () => ok({ results: [check] })],
    applyUpgrade: ['POST', '/api/v1beta/workloads/{name}/upgrade', () => ok({ result: check })],
    listGroups: [
      'GET',
      '/api/v1beta/groups',
      () => ok({ groups: [{ name: text('default') }, { name: text('work') }] }),
    ],
    listServersOfRegistry: [
      'GET',
      '/api/v1beta/registry/{name}/servers',
      () =>
        ok({
          servers: [entry],
          remote_servers: [{ ...entry, name: 'io.example/remote', url: 'https://mcp.example.com/mcp' }],
          total: 2,
          notes: [text('note')],
        }),
    ],
    getServerOfRegistry: [
      'GET',
      '/api/v1beta/registry/{name}/servers/{serverName}',
      () => ok({ is_remote: false, server: entry }),
    ],
    refreshRegistry: ['POST', '/api/v1beta/registry/{name}/refresh', () => ok({ status: 'refreshed' })],
    listClients: [
      'GET',
      '/api/v1beta/discovery/clients',
      () =>
        ok({
          clients: [...state.clients].map(([client_type, registered]) => ({
            client_type,
            installed: true,
            registered,
            supports_skills: true,
          })),
        }),
    ],
    registerClient: [
      'POST',
      '/api/v1beta/clients',
      (request) => {
        state.clients.set(String(request.body.name), true);
        request.context.publish({ type: 'client', name: String(request.body.name) });
        return ok({ name: request.body.name, groups: ['default'] });
      },
    ],
    unregisterClients: [
      'POST',
      '/api/v1beta/clients/unregister',
      (request) => {
        for (const name of request.body.names as string[]) state.clients.set(name, false);
        request.context.publish({ type: 'client', name: '' });
        return { status: 204 };
      },
    ],
    previewClients: [
      'POST',
      '/api/v1beta/clients/preview',
      ({ body }) =>
        ok([
          {
            client: (body.names as string[])[0],
            path: `/home/ann/${text('path')}`,
            conflicts: [{ name: text('entry'), why: text('why') }],
            diff: `--- a\n+++ b\n@@ -1 +1 @@\n-{}\n+{ "mcpServers": "${text('diff')}" }`,
          },
        ]),
    ],
    getSecretProvider: [
      'GET',
      '/api/v1beta/secrets/default',
      () =>
        state.provider === undefined
          ? problem('not_found', 'no provider is set up')
          : ok({
              name: 'default',
              provider_type: state.provider,
              capabilities: { can_read: true, can_write: true, can_delete: true, can_list: true, can_cleanup: true },
            }),
    ],
    setUpSecretProvider: [
      'POST',
      '/api/v1beta/secrets',
      (request) => {
        state.provider = String(request.body.provider_type);
        request.context.publish({ type: 'secret', name: '' });
        return ok({ provider_type: state.provider, message: 'the provider is set up' }, 201);
      },
      PROVIDER,
    ],
    listSecrets: [
      'GET',
      '/api/v1beta/secrets/default/keys',
      () => ok({ keys: [...state.secrets.keys()].map((key) => ({ key, description: text('description') })) }),
    ],
    createSecret: [
      'POST',
      '/api/v1beta/secrets/default/keys',
      (request) => {
        const key = String(request.body.key);
        if (state.secrets.has(key)) return problem('conflict', `there is a secret ${key}`);
        state.secrets.set(key, String(request.body.value));
        request.context.publish({ type: 'secret', name: key });
        return ok({ key, message: 'stored' }, 201);
      },
    ],
    updateSecret: [
      'PUT',
      '/api/v1beta/secrets/default/keys/{key}',
      (request) => {
        state.secrets.set(request.path.key ?? '', String(request.body.value));
        return ok({ key: request.path.key, message: 'stored' });
      },
    ],
    deleteSecret: [
      'DELETE',
      '/api/v1beta/secrets/default/keys/{key}',
      (request) => {
        state.secrets.delete(request.path.key ?? '');
        request.context.publish({ type: 'secret', name: request.path.key ?? '' });
        return { status: 204 };
      },
    ],
    listPins: ['GET', '/api/v1beta/pins', () => ok({ pins: [pin], notes: [text('note')] })],
    getPin: [
      'GET',
      '/api/v1beta/pins/{hash}',
      () =>
        ok({
          ...pin,
          changes: [
            { path: text('path'), before: text('before'), after: `${text('description')}\n+ ${text('after')}` },
          ],
          findings: [{ path: text('path'), finding: 'invisible characters' }],
        }),
    ],
    listSkills: [
      'GET',
      '/api/v1beta/skills',
      () =>
        ok({
          skills: [...state.skills].map((name) => ({
            metadata: { name, version: '1.0.0', description: text('description') },
            scope: 'user',
            status: 'installed',
            clients: ['cursor'],
            reference: text('reference'),
          })),
        }),
    ],
    installSkill: [
      'POST',
      '/api/v1beta/skills',
      (request) => {
        state.skills.add(String(request.body.name));
        request.context.publish({ type: 'skill', name: String(request.body.name) });
        return ok({ skill: {} }, 201);
      },
      SKILL,
    ],
    uninstallSkill: [
      'DELETE',
      '/api/v1beta/skills/{name}',
      (request) => {
        state.skills.delete(request.path.name ?? '');
        return { status: 204 };
      },
    ],
    getSkillContent: [
      'GET',
      '/api/v1beta/skills/content',
      () =>
        ok({
          name: 'review',
          description: text('description'),
          body: text('body'),
          files: [{ path: text('path'), size: 12 }],
        }),
    ],
    syncSkills: [
      'POST',
      '/api/v1beta/skills/sync',
      () =>
        ok({
          already_current: ['review'],
          drifted: [text('skill')],
          failed: [{ name: text('skill'), error: text('error'), reason: 'unknown' }],
        }),
    ],
    upgradeSkills: [
      'POST',
      '/api/v1beta/skills/upgrade',
      () => ok({ outcomes: [{ name: text('skill'), status: 'upgraded', new_resolved_reference: text('reference') }] }),
    ],
    listRegistrySkills: [
      'GET',
      '/registry/{registryName}/v0.1/x/dev.toolmgr/skills',
      () =>
        ok({
          skills: [
            {
              namespace: 'io.example',
              name: 'review',
              title: text('title'),
              description: text('description'),
              version: '1.0.0',
            },
          ],
          metadata: {},
        }),
    ],
  };
  const operations = Object.entries(table).map(([id, [method, path, run, body]]) =>
    operation({
      id,
      method,
      path,
      tag: 'test',
      summary: id,
      params: z.record(z.string(), z.string()),
      query: z.record(z.string(), z.string()),
      ...(method === 'POST' || method === 'PUT' ? { body: body ?? z.looseObject({}), bodyOptional: true } : {}),
      answers: Object.fromEntries(
        [200, 201, 202, 204].map((status) => [
          status,
          {
            description: 'a success',
            ...(/Logs$/.test(id)
              ? { mediaType: 'text/plain' as const }
              : status === 204
                ? {}
                : { schema: z.unknown() }),
          },
        ]),
      ),
      problems: ['not_found', 'conflict'],
      ...(/Logs$/.test(id) ? { timeLimit: 'stream' as const } : {}),
      async run(request) {
        if (request.body !== undefined) state.bodies.push({ id, body: request.body });
        return run(request as Request) as never;
      },
    }),
  );
  return { operations, state };
}

async function* logLines(text: (place: string) => string): AsyncGenerator<string> {
  for (let line = 1; line <= 40; line += 1)
    yield `2026-11-01T10:00:${String(line % 60).padStart(2, '0')}Z line ${line} ${text('log')}\n`;
}

const WORKLOAD = z.looseObject({
  name: z.string().optional().describe('name of the workload'),
  image: z.string().optional().describe('image, or package: `uvx://`, `npx://`, `go://`'),
  url: z.string().optional().describe('URL of a remote server'),
  transport: z.enum(['', 'stdio', 'sse', 'streamable-http']).optional().describe('transport of the server'),
  proxy_port: z.int().min(0).max(65_535).optional().describe('port of the endpoint'),
  cmd_arguments: z.array(z.string()).optional().describe('arguments of the server'),
  env_vars: z.record(z.string(), z.string()).optional().describe('variables'),
  secrets: z
    .array(z.strictObject({ name: z.string(), target: z.string() }))
    .optional()
    .describe('stored secrets'),
  volumes: z.array(z.string()).optional().describe('mounts'),
  network_isolation: z.boolean().optional().describe('default true for images'),
  tools: z.array(z.string()).optional().describe('tools that are shown'),
  oidc: z
    .strictObject({ issuer: z.string().optional(), scopes: z.array(z.string()).optional() })
    .optional()
    .describe('who may call'),
  tools_override: z
    .record(z.string(), z.strictObject({ name: z.string().optional() }))
    .optional()
    .describe('other names'),
  group: z.string().optional().describe('its group'),
});

const PROVIDER = z.looseObject({
  provider_type: z.enum(['encrypted', '1password', 'environment']).describe('where secrets are kept'),
  password: z.string().optional().describe('password of the encrypted file'),
});

const SKILL = z.looseObject({
  name: z.string().describe('name or reference'),
  version: z.string().optional(),
  scope: z.enum(['user', 'project']).optional(),
  project_root: z.string().optional(),
  clients: z.array(z.string()).optional(),
  force: z.boolean().optional(),
});
