import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { operation, problem } from '@toolmgr/plugins/kit/operations';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { startManager } from '../../../support/manager.ts';
import { proves } from '../../../support/proves.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const greet = operation({
  id: 'greet',
  method: 'POST',
  path: '/api/v1beta/greetings/{name}',
  tag: 'test',
  summary: 'Greet',
  params: z.strictObject({ name: z.string().max(10) }),
  query: z.strictObject({ loud: z.enum(['true', 'false']).optional() }),
  body: z.strictObject({ language: z.enum(['en', 'de']), greeting: z.string().optional() }),
  answers: { 200: { description: 'a greeting', schema: z.strictObject({ text: z.string() }) } },
  problems: ['conflict'],
  async run({ path, body }) {
    if (path.name === 'taken') return problem('conflict', 'taken is greeted already');
    return { status: 200, body: { text: `${body.language} ${path.name}` } };
  },
});

const wrong = operation({
  id: 'wrong',
  method: 'GET',
  path: '/api/v1beta/greetings/wrong',
  tag: 'test',
  summary: 'Answer with a wrong body',
  answers: { 200: { description: 'a text', schema: z.string() } },
  problems: [],
  async run() {
    return { status: 200, body: 5 };
  },
});

it('serves an operation and refuses what does not fit its schemas, with each faulty member', async () => {
  await using manager = await startManager({ operations: [greet, wrong] });
  const good = await manager.request('POST', '/api/v1beta/greetings/you', { language: 'en' });
  expect([good.status, good.body]).toEqual([200, { text: 'en you' }]);

  const bad = await manager.request('POST', '/api/v1beta/greetings/much-too-long?lowd=true', { langage: 'en' });
  expect(bad.headers.get('content-type')).toContain('application/problem+json');
  expect(bad.body).toMatchObject({ status: 400, code: 'bad_request' });
  expect(bad.body.errors).toEqual([
    { in: 'path', path: 'name', detail: 'too big: expected string to have <=10 characters' },
    { in: 'query', path: '', detail: 'unknown key "lowd", did you mean "loud"?' },
    { in: 'body', path: 'language', detail: 'invalid option: expected one of "en"|"de"' },
    { in: 'body', path: '', detail: 'unknown key "langage", did you mean "language"?' },
  ]);

  const refused = await manager.request('POST', '/api/v1beta/greetings/taken', { language: 'en' });
  expect(refused.body).toMatchObject({ status: 409, code: 'conflict', detail: 'taken is greeted already' });
  expect((await manager.request('POST', '/api/v1beta/greetings/you')).body).toMatchObject({
    status: 400,
    detail: 'body: a JSON body is required',
  });
});

proves('choice.manager.problem-json', 'answers errors of the host as problems', async () => {
  await using manager = await startManager({ operations: [greet, wrong] });
  const codeOf = async (method: string, path: string, headers?: Record<string, string>) => {
    const { status, body } = await manager.request(method, path, undefined, headers);
    return [status, body.code];
  };
  expect(await codeOf('GET', '/api/v1beta/nothing')).toEqual([404, 'not_found']);
  expect(await codeOf('GET', '/api/v1beta/greetings/%zz')).toEqual([400, 'bad_request']);
  expect(await codeOf('POST', `/api/v1beta/greetings/${'x'.repeat(3_000)}`)).toEqual([414, 'uri_too_long']);
  expect(await codeOf('GET', `/api/v1beta/greetings/${'x'.repeat(9_000)}`)).toEqual([414, 'uri_too_long']);
  expect(await codeOf('GET', '/api/v1beta/greetings/wrong')).toEqual([500, 'internal_error']);
  const unknown = await manager.request('GET', '/api/v1beta/nothing');
  expect(unknown.headers.get('content-type')).toContain('application/problem+json');
  expect(unknown.body).toEqual({
    type: 'https://toolmgr.dev/problems/not_found',
    title: 'There is no such resource',
    status: 404,
    detail: 'nothing is served at this path',
    code: 'not_found',
  });
  const other = await manager.request('DELETE', '/api/v1beta/greetings/you');
  expect([other.status, other.headers.get('allow')]).toEqual([405, 'POST']);
  const hidden = await manager.request('POST', '/api/v1beta/greetings/wrong', { language: 'en' });
  expect([hidden.status, hidden.headers.get('allow')]).toEqual([405, 'HEAD, GET']);
});

it('answers 501 with the command to install when an operation needs an optional package that is missing', async () => {
  const folder = temporaryFolder('peers');
  await mkdir(join(folder, 'node_modules/own'), { recursive: true });
  const manifest = {
    peerDependencies: { 'own-tar': '^3.2.2' },
    peerDependenciesMeta: { 'own-tar': { optional: true, feature: 'archives' } },
  };
  await writeFile(join(folder, 'package.json'), '{}');
  await writeFile(join(folder, 'node_modules/own/package.json'), JSON.stringify(manifest));
  const importer = join(folder, 'node_modules/own/pack.mjs');
  await writeFile(importer, "import 'own-tar';");
  const pack = operation({
    id: 'pack',
    method: 'POST',
    path: '/api/v1beta/packs',
    tag: 'test',
    summary: 'Pack',
    answers: { 200: { description: 'a text', schema: z.string() } },
    problems: [],
    async run() {
      await import(pathToFileURL(importer).href);
      return { status: 200, body: '' };
    },
  });
  await using manager = await startManager({ operations: [pack] });
  const refused = await manager.request('POST', '/api/v1beta/packs');
  expect([refused.status, refused.body.code]).toEqual([501, 'not_implemented']);
  expect(refused.body.detail).toMatch(
    /^archives: the optional package own-tar is not installed; install it: npm install --prefix \S+ own-tar@3$/,
  );
});
