import { PROBLEMS } from '@toolmgr/plugins/kit/operations';
import { describe, expect, it } from 'vitest';
import { describedOperations } from '../../../../hosts/manager/all-operations.ts';
import { openApiDocument } from '../../../../hosts/manager/http/openapi.ts';
import { startManager } from '../../../support/manager.ts';
import { proves } from '../../../support/proves.ts';

/** Method, path, and the status codes of the contract, first the success. `body` and `optional`: what it takes. */
const CONTRACT = [
  ['POST', '/api/v1beta/clients', [200, 400], 'body'],
  ['POST', '/api/v1beta/clients/register', [200, 400], 'body'],
  ['GET', '/api/v1beta/discovery/clients', [200]],
  ['GET', '/api/v1beta/registry', [200]],
  ['GET', '/api/v1beta/registry/{name}', [200, 404]],
  ['GET', '/api/v1beta/registry/{name}/servers/{serverName}', [200, 404]],
  ['GET', '/api/v1beta/registry/{name}/servers', [200, 404]],
  ['PUT', '/api/v1beta/registry/{name}', [200, 400, 403, 404, 502, 504], 'body'],
  ['GET', '/registry/{registryName}/v0.1/servers/{serverName}/versions/latest', [200, 400, 404, 500, 503]],
  ['GET', '/registry/{registryName}/v0.1/servers', [200, 500, 503]],
  ['GET', '/registry/{registryName}/v0.1/x/dev.toolmgr/skills/{namespace}/{skillName}', [200, 404, 500, 503]],
  ['GET', '/registry/{registryName}/v0.1/x/dev.toolmgr/skills', [200, 500, 503]],
  ['POST', '/api/v1beta/secrets/default/keys', [201, 400, 404, 405, 409, 500], 'body'],
  ['POST', '/api/v1beta/secrets', [201, 400, 500], 'body'],
  ['PUT', '/api/v1beta/secrets/default/keys/{key}', [200, 400, 404, 405, 500], 'body'],
  ['GET', '/api/v1beta/skills/content', [200, 400, 401, 404, 429, 500, 502, 504]],
  ['GET', '/api/v1beta/skills/{name}', [200, 400, 404, 500]],
  ['POST', '/api/v1beta/skills', [201, 400, 401, 404, 409, 429, 500, 502, 504], 'body'],
  ['GET', '/api/v1beta/skills', [200, 500]],
  ['POST', '/api/v1beta/skills/sync', [200, 400, 403, 500, 501], 'body'],
  ['DELETE', '/api/v1beta/skills/{name}', [204, 400, 404, 500]],
  ['POST', '/api/v1beta/skills/upgrade', [200, 400, 403, 404, 500, 501], 'body'],
  ['POST', '/api/v1beta/skills/validate', [200, 400, 500], 'body'],
  ['POST', '/api/v1beta/workloads/{name}/upgrade', [200, 400, 404, 422, 500], 'optional'],
  ['GET', '/api/v1beta/workloads/{name}/upgrade-check', [200, 400, 404]],
  ['GET', '/api/v1beta/workloads/upgrade-check', [200, 400, 404]],
  ['POST', '/api/v1beta/workloads/delete', [202, 400], 'body'],
  ['GET', '/api/v1beta/workloads/{name}/export', [200, 404]],
  ['GET', '/api/v1beta/workloads/{name}', [200, 404]],
  ['GET', '/api/v1beta/workloads', [200, 404]],
  ['POST', '/api/v1beta/workloads/restart', [202, 400], 'body'],
  ['POST', '/api/v1beta/workloads/{name}/edit', [200, 400, 404], 'body'],
] as const satisfies readonly (readonly [string, string, readonly number[], ('body' | 'optional')?])[];

/** Answers of the host, which every operation has (`docs/reference/manager-api.md`). */
const OF_HOST = new Set([400, 401, 403, 405, 408, 413, 414, 415, 431, 500, 501, 503, 504]);

/** Codes beyond the contract, with the cause. */
const FURTHER: Readonly<Record<string, readonly number[]>> = {
  // an unknown group; the file of a client is not readable or is changed by its editor
  'POST /api/v1beta/clients': [404, 409],
  'POST /api/v1beta/clients/register': [404, 409],
  // the source of the registry gives no usable document
  'GET /api/v1beta/registry/{name}': [502],
  'GET /api/v1beta/registry/{name}/servers/{serverName}': [502],
  'GET /api/v1beta/registry/{name}/servers': [502],
  // an ambiguous name; an artifact that is not a skill
  'GET /api/v1beta/skills/content': [409, 422],
  'POST /api/v1beta/skills': [422],
  // the file with the configuration is damaged
  'GET /api/v1beta/workloads/{name}/export': [422],
  'GET /api/v1beta/workloads/{name}': [422],
  // If-Match of another version; a name or port in use; an image that cannot be used
  'POST /api/v1beta/workloads/{name}/edit': [409, 412, 422],
};

interface Described {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
  readonly requestBody?: { readonly required: boolean };
}

const document = openApiDocument(await describedOperations(), '0.0.0') as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
};

const described = (method: string, path: string): Described | undefined => document.paths[path]?.[method.toLowerCase()];

describe('the 32 operations of the contract', () => {
  const rows = CONTRACT.map(([method, path, codes]) => ({ method, path, codes: codes as readonly number[] }));

  it.each(rows)('$method $path has the status codes of the contract', ({ method, path, codes }) => {
    const declared = Object.keys(described(method, path)?.responses ?? {}).map(Number);
    expect(declared).toEqual(expect.arrayContaining([...codes]));
    const further = FURTHER[`${method} ${path}`] ?? [];
    const beyond = declared.filter((code) => !codes.includes(code) && !OF_HOST.has(code));
    expect(beyond.filter((code) => !further.includes(code))).toEqual([]);
  });

  it('has 32 of them', () => {
    expect(new Set(CONTRACT.map(([method, path]) => `${method} ${path}`)).size).toBe(32);
  });

  proves('manager.api.json-answers', 'answer JSON, and problems as problem+json', async () => {
    for (const [method, path] of CONTRACT) {
      for (const [status, { content = {} }] of Object.entries(described(method, path)?.responses ?? {})) {
        const type = Number(status) < 400 ? 'application/json' : 'application/problem+json';
        expect([`${method} ${path} ${status}`, Object.keys(content)]).toEqual([
          `${method} ${path} ${status}`,
          status === '204' ? [] : [type],
        ]);
      }
    }
    await using manager = await startManager();
    const { headers } = await manager.request('GET', '/api/v1beta/workloads');
    expect(headers.get('content-type')).toBe('application/json');
    const problem = await manager.request('GET', '/api/v1beta/workloads/none');
    expect(problem.headers.get('content-type')).toBe('application/problem+json');
    for (const path of ['/api/openapi.json', '/page.json']) {
      const answer = await manager.request('GET', path);
      expect([path, answer.headers.get('content-type')]).toEqual([path, 'application/json']);
    }
  });

  proves('manager.api.required-bodies', 'refuse a request without a body where one is declared', async () => {
    await using manager = await startManager();
    for (const [method, path, , takes] of CONTRACT) {
      expect([path, described(method, path)?.requestBody?.required]).toEqual([
        path,
        takes === undefined ? undefined : takes === 'body',
      ]);
      if (takes !== 'body') continue;
      const answer = await manager.request(method, path.replace(/\{\w+\}/g, 'default'));
      expect([path, answer.status, answer.body.detail]).toEqual([path, 400, 'body: a JSON body is required']);
    }
  });

  proves('manager.api.bulk-names-or-group', 'take workload names or a group in bulk, one of them', async () => {
    await using manager = await startManager();
    await manager.request('POST', '/api/v1beta/groups', { name: 'tools' });
    for (const what of ['delete', 'restart']) {
      const statusOf = async (body: object): Promise<number> =>
        (await manager.request('POST', `/api/v1beta/workloads/${what}`, body)).status;
      expect(await statusOf({ names: ['one'] })).toBe(202);
      expect(await statusOf({ group: 'tools' })).toBe(202);
      expect(await statusOf({})).toBe(400);
      expect(await statusOf({ names: ['one'], group: 'tools' })).toBe(400);
    }
  });

  proves(
    ['manager.limits.listing-default-50', 'manager.limits.listing-maximum-200', 'manager.limits.page-from-one'],
    'list 50 entries of page 1, and never more than 200',
    async () => {
      await using manager = await startManager();
      const list = async (query: string) =>
        (await manager.request('GET', `/registry/default/v0.1/servers${query}`)).body;
      const first = await list('');
      expect(first.servers).toHaveLength(50); // the built-in registry has more
      expect(await list('?page=1')).toEqual(first);
      const second = await list('?page=2');
      expect(second.servers[0].server.name).not.toBe(first.servers[0].server.name);
      expect((await list('?limit=5000')).metadata.limit ?? 200).toBe(200);
      expect(first.metadata).toMatchObject({ page: 1, limit: 50 });
    },
  );
});

describe('the document', () => {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({ name: `${method.toUpperCase()} ${path}`, one })),
  );

  it('describes each operation with an id, a summary, an example of each success and problems', () => {
    const wrong = all.flatMap(({ name, one }) => {
      const text = one as unknown as { readonly operationId?: string; readonly summary?: string };
      const lacks = Object.entries(one.responses).flatMap(([status, { content = {} }]) =>
        Object.values(content).some((each) => !('example' in (each as object)) && !('examples' in (each as object)))
          ? [`${name} ${status} has no example`]
          : [],
      );
      return [...(text.operationId && text.summary ? [] : [`${name} has no id or summary`]), ...lacks];
    });
    expect(wrong).toEqual([]);
  });

  it('has examples that fit their schemas', async () => {
    const { operations, openOperations } = await describedOperations();
    const wrong = [...operations, ...openOperations].flatMap(({ id, answers, body, bodyExample }) => [
      ...Object.entries(answers).flatMap(([status, { schema, example }]) =>
        schema === undefined || example === undefined || schema.safeParse(example).success ? [] : [`${id} ${status}`],
      ),
      ...(body === undefined || bodyExample === undefined || body.safeParse(bodyExample).success ? [] : [`${id} body`]),
    ]);
    expect(wrong).toEqual([]);
  });

  it('has different ids', () => {
    const ids = all.map(({ one }) => (one as unknown as { readonly operationId: string }).operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is served by the manager as it was made', async () => {
    await using manager = await startManager();
    const { body } = await manager.request('GET', '/api/openapi.json');
    expect(body.openapi).toBe('3.1.0');
    expect(Object.keys(body.paths)).toEqual(Object.keys(document.paths));
    expect(Object.keys(PROBLEMS)).toEqual(body.components.schemas.Problem.properties.code.enum);
  });
});
