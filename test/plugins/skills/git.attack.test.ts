import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { resolveSkill } from '../../../plugins/skills/artifact/resolve-skill.ts';
import { checkPack, PackRefused } from '../../../plugins/skills/git/check-pack.ts';
import { gitAuthorization } from '../../../plugins/skills/git/git-credentials.ts';
import { LIMITS } from '../../../plugins/skills/limits.ts';
import { gitMissing, startGitServer } from '../../support/git-server.ts';
import { loopbackServer } from '../../support/loopback-server.ts';
import { skillText } from '../../support/skill-folder.ts';

const MB = 1024 * 1024;

const [BLOB, OFS_DELTA, REF_DELTA] = [3, 6, 7];

/** The number of an object header or a delta, little end first. */
function sizeBytes(first: number, firstBits: number, size: number): Buffer {
  const bytes = [first | (size % 2 ** firstBits)];
  let rest = Math.floor(size / 2 ** firstBits);
  while (rest > 0) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80;
    bytes.push(rest % 128);
    rest = Math.floor(rest / 128);
  }
  return Buffer.from(bytes);
}

function object(
  type: number,
  content: Buffer,
  options: { readonly size?: number; readonly base?: Buffer } = {},
): Buffer {
  const header = sizeBytes(type << 4, 4, options.size ?? content.length);
  return Buffer.concat([header, options.base ?? Buffer.alloc(0), deflateSync(content)]);
}

function pack(objects: readonly Buffer[], count = objects.length): Buffer {
  const header = Buffer.alloc(12);
  header.write('PACK');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(count, 8);
  const body = Buffer.concat([header, ...objects]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

const delta = (source: number, target: number): Buffer =>
  Buffer.concat([sizeBytes(0, 7, source), sizeBytes(0, 7, target), Buffer.from([1, 0])]);

describe('a pack is refused', () => {
  it.each<[string, () => Buffer, RegExp]>([
    ['when it is empty', () => Buffer.alloc(0), /version 2/],
    ['when it has another version', () => Buffer.from('PACK\0\0\0\u0003'.padEnd(40, '\0')), /version 2/],
    ['when it has too many objects', () => pack([], LIMITS.gitObjects + 1), /more than 100000 objects/],
    [
      'when an object inflates to more than it says',
      () => pack([object(BLOB, Buffer.alloc(MB), { size: 10 })]),
      /wrong size/,
    ],
    [
      'when an object inflates to less than it says',
      () => pack([object(BLOB, Buffer.alloc(10), { size: MB })]),
      /wrong size/,
    ],
    [
      'when an object says it is huge',
      () => pack([object(BLOB, Buffer.alloc(10), { size: 2 ** 40 })]),
      /file larger than 500 MB/,
    ],
    [
      'when its objects are too large together',
      () => pack(Array<Buffer>(11).fill(object(BLOB, Buffer.alloc(50 * MB)))),
      /larger than 500 MB/,
    ],
    [
      'when a small delta makes a huge object',
      () => pack([object(REF_DELTA, delta(10, 2 ** 40), { base: Buffer.alloc(20) })]),
      /file larger than 500 MB/,
    ],
    [
      'when many deltas make too much together',
      () => pack(Array.from({ length: 3 }, () => object(OFS_DELTA, delta(10, 200 * MB), { base: Buffer.from([1]) }))),
      /larger than 500 MB/,
    ],
    [
      'when a delta is cut',
      () => pack([object(REF_DELTA, Buffer.from([0x80]), { base: Buffer.alloc(20) })]),
      /delta that is cut/,
    ],
    ['when it is cut', () => pack([object(BLOB, Buffer.from('abc'))], 2), /wrong size|cut/],
    ['when more bytes follow', () => pack([object(BLOB, Buffer.from('abc')), Buffer.from('more')], 1), /not complete/],
  ])('%s', (_, make, expected) => {
    const bytes = make();
    expect(() => checkPack(bytes)).toThrow(expected);
    expect(() => checkPack(bytes)).toThrow(PackRefused);
  });

  it('and a valid one is not', () => {
    const objects = [object(BLOB, Buffer.from('abc')), object(OFS_DELTA, delta(3, 3), { base: Buffer.from([5]) })];
    expect(() => checkPack(pack(objects))).not.toThrow();
  });
});

describe('a git host', () => {
  const read = (reference: string, signal = AbortSignal.timeout(30_000), env: NodeJS.ProcessEnv = {}) =>
    resolveSkill(reference, { signal, store: '/nonexistent', env });

  it.each([
    '127.0.0.1',
    'localhost',
    'localhost:8080',
    '10.1.2.3',
    '192.168.0.1:3000',
    '169.254.169.254',
    '[::1]',
    '[fd00::1]',
    '[::ffff:10.0.0.1]',
    '0.0.0.0',
  ])('%s is refused', async (host) => {
    const answer = await read(`git://${host}/org/repo`);
    expect(answer).toMatchObject({ problem: 'bad_request', detail: expect.stringContaining('not allowed') });
  });

  it('that never answers ends with the signal', async () => {
    await using server = await loopbackServer(() => {});
    const begun = performance.now();
    const answer = await resolveSkill(`git://127.0.0.1:${server.port}/org/repo`, {
      signal: AbortSignal.timeout(1500),
      store: '/nonexistent',
      env: {},
      allowPrivateAddresses: true,
    });
    expect(answer).toMatchObject({ problem: 'upstream_timeout' });
    expect(performance.now() - begun).toBeLessThan(20_000);
  });

  it('that redirects to another origin, or answers no git, is refused without its token', async () => {
    await using other = await loopbackServer((_, response) => response.writeHead(200).end());
    const seen: (string | undefined)[] = [];
    await using server = await loopbackServer((request, response) => {
      seen.push(request.headers.authorization);
      if (request.url?.startsWith('/org/html')) return void response.writeHead(200).end('<html>hello');
      if (request.url?.startsWith('/org/limit')) return void response.writeHead(429).end();
      response.writeHead(302, { location: `${other.url}/org/repo/info/refs?service=git-upload-pack` }).end();
    });
    const options = {
      signal: AbortSignal.timeout(30_000),
      store: '/nonexistent',
      env: { GIT_TOKEN: 'secret' },
      isNamedByUser: true,
      allowPrivateAddresses: true,
    };
    const host = `git://127.0.0.1:${server.port}`;
    expect(await resolveSkill(`${host}/org/repo`, options)).toMatchObject({
      problem: 'upstream_failed',
      detail: expect.stringContaining('another origin'),
    });
    expect(await resolveSkill(`${host}/org/html`, options)).toMatchObject({ problem: 'upstream_failed' });
    expect(await resolveSkill(`${host}/org/limit`, options)).toMatchObject({ problem: 'upstream_rate_limited' });
    expect(other.seen).toEqual([]);
    expect(seen.every((each) => each === undefined)).toBe(true);
  });

  it.skipIf(gitMissing() !== undefined)(
    'gets GIT_TOKEN when the user names it, and not when a registry, a lock file or an agent does',
    async () => {
      await using server = await startGitServer('git:s3cret-token');
      await server.commit('org/code-review', { 'SKILL.md': skillText('code-review') });
      const reference = `git://${server.host}/org/code-review`;
      const read = (more: { readonly isNamedByUser?: boolean }, env: NodeJS.ProcessEnv = {}) =>
        resolveSkill(reference, {
          signal: AbortSignal.timeout(60_000),
          store: '/nonexistent',
          env: { GIT_TOKEN: 's3cret-token', ...env },
          allowPrivateAddresses: true,
          ...more,
        });
      expect(await read({})).toMatchObject({
        problem: 'upstream_unauthorized',
        detail: expect.stringContaining(`GIT_TOKEN_HOST=${server.host}`),
      });
      expect(await read({ isNamedByUser: true }, { GIT_TOKEN_HOST: 'git.example.com' })).toHaveProperty('problem');
      expect(server.seen.every((each) => each === undefined)).toBe(true);
      expect(await read({}, { GIT_TOKEN_HOST: server.host })).toHaveProperty('artifact');
      expect(await read({ isNamedByUser: true })).toHaveProperty('artifact');
    },
  );

  it('that a registry names gets no GIT_TOKEN; github.com and gitlab.com get their own tokens only', () => {
    const env = { GIT_TOKEN: 'any', GITHUB_TOKEN: 'hub', GITLAB_TOKEN: 'lab' };
    const tokenFor = (host: string, isNamedByUser: boolean) => {
      const header = gitAuthorization(host, env, isNamedByUser);
      return header === undefined ? undefined : Buffer.from(header.slice('Basic '.length), 'base64').toString();
    };
    expect(tokenFor('evil.example', false)).toBeUndefined();
    expect(tokenFor('git.example.com', true)).toBe('git:any');
    expect(tokenFor('github.com', false)).toBe('x-access-token:hub');
    expect(tokenFor('gitlab.com', true)).toBe('oauth2:lab');
    expect(tokenFor('github.com.evil.example', true)).toBe('git:any');
  });
});
