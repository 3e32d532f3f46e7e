import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { signatureVerifier } from '@toolmgr/plugins/image-verification';
import { describe, expect, it } from 'vitest';
import { buildSkill } from '../../../plugins/skills/artifact/build-skill.ts';
import { pushSkill } from '../../../plugins/skills/artifact/push-skill.ts';
import { resolveSkill } from '../../../plugins/skills/artifact/resolve-skill.ts';
import { verifySkill } from '../../../plugins/skills/signature/verify-skill.ts';
import { startReferrersRegistry } from '../../support/referrers-registry.ts';
import { rig } from '../../support/rig.ts';
import { skillFolder, skillText } from '../../support/skill-folder.ts';

const built = rig('oci');
const signal = AbortSignal.timeout(120_000);

describe.skipIf('missing' in built)(
  `a registry with referrers, and crane ${'missing' in built ? built.missing : ''}`,
  () => {
    const folder = 'folder' in built ? built.folder : '';

    it('read what we push: index, platforms, layer and signature', async () => {
      await using registry = await startReferrersRegistry(folder);
      await using skill = await skillFolder('code-review', ['version: 1.2.0', 'license: MIT', 'allowed-tools: Read']);
      const reference = `${registry.host}/org/code-review:1.2.0`;
      const options = {
        store: join(skill.home, 'store'),
        signal,
        env: { HOME: skill.home },
        allowPrivateAddresses: true,
      };
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const key = join(skill.home, 'key.pem');
      await writeFile(key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
      await writeFile(`${key}.pub`, publicKey.export({ type: 'spki', format: 'pem' }));
      await buildSkill(skill.path, reference, options);
      const pushed = await pushSkill(reference, { kind: 'key', file: key }, options);
      const digest = (await registry.crane('digest', reference)).trim();
      expect(pushed).toEqual({ reference: `${registry.host}/org/code-review@${digest}`, isSigned: true });
      expect((await registry.crane('validate', '--remote', reference)).trim()).toMatch(/PASS/);
      const index = JSON.parse(await registry.crane('manifest', reference));
      expect(index).toMatchObject({
        artifactType: 'dev.toolmgr.skills.v1',
        mediaType: 'application/vnd.oci.image.index.v1+json',
        manifests: [
          { platform: { os: 'linux', architecture: 'amd64' } },
          { platform: { os: 'linux', architecture: 'arm64' } },
        ],
      });
      const manifests = await Promise.all(
        ['linux/amd64', 'linux/arm64'].map(async (platform) =>
          JSON.parse(await registry.crane('manifest', '--platform', platform, reference)),
        ),
      );
      expect(manifests[0].layers).toEqual(manifests[1].layers);
      expect(manifests[0]).toMatchObject({
        annotations: {
          'org.opencontainers.image.created': '1970-01-01T00:00:00.000Z',
          'dev.toolmgr.skills.name': 'code-review',
          'dev.toolmgr.skills.description': 'Reviews a change.',
          'dev.toolmgr.skills.version': '1.2.0',
        },
        layers: [
          {
            mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip',
            annotations: { 'org.opencontainers.image.title': 'skill.tar.gz' },
          },
        ],
      });
      const config = JSON.parse(await registry.crane('config', '--platform', 'linux/arm64', reference));
      expect(config.config.Labels).toEqual({
        'dev.toolmgr.skills.name': 'code-review',
        'dev.toolmgr.skills.description': 'Reviews a change.',
        'dev.toolmgr.skills.version': '1.2.0',
        'dev.toolmgr.skills.allowedTools': '["Read"]',
        'dev.toolmgr.skills.license': 'MIT',
        'dev.toolmgr.skills.files': '["SKILL.md","references/rules.md","scripts/check.sh"]',
      });
      const tar = join(skill.home, 'files.tar');
      await registry.crane('export', '--platform', 'linux/amd64', reference, tar);
      const listed = execFileSync('tar', ['-tvf', tar], { encoding: 'utf8', env: { ...process.env, TZ: 'UTC' } });
      expect(
        listed
          .trim()
          .split('\n')
          .map((line) => line.replace(/\s+/g, ' ')),
      ).toEqual([
        expect.stringMatching(/^-rw-r--r-- 0\/0 \d+ 1970-01-01 00:00 SKILL\.md$/),
        expect.stringMatching(/^-rw-r--r-- 0\/0 \d+ 1970-01-01 00:00 references\/rules\.md$/),
        expect.stringMatching(/^-rw-r--r-- 0\/0 \d+ 1970-01-01 00:00 scripts\/check\.sh$/),
      ]);
      const read = await resolveSkill(reference, { ...options, store: join(skill.home, 'none') });
      if ('problem' in read) throw new Error(read.detail);
      const verified = await verifySkill(read.artifact, {
        signal,
        signatures: signatureVerifier,
        cacheDir: skill.home,
        publicKeyFiles: [`${key}.pub`],
        allowPrivateAddresses: true,
        env: options.env,
      });
      expect(verified).toMatchObject({ kind: 'signed' });
      // the registry has the referrers API, so there is no tag with a list
      expect(await registry.crane('ls', `${registry.host}/org/code-review`)).toBe('1.2.0\n');
    });

    it('give us what crane pushes: an image without an index, made from a plain archive', async () => {
      await using registry = await startReferrersRegistry(folder);
      await using skill = await skillFolder('code-review');
      const archive = join(skill.home, 'layer.tar.gz');
      execFileSync('tar', ['-czf', archive, '--owner=0', '--group=0', '-C', skill.path, '.']);
      const options = {
        store: join(skill.home, 'none'),
        signal,
        env: { HOME: skill.home },
        allowPrivateAddresses: true,
      };
      const append = (name: string, ...layers: readonly string[]) =>
        registry.crane(
          'append',
          '--oci-empty-base',
          ...layers.flatMap((layer) => ['-f', layer]),
          '-t',
          `${registry.host}/org/${name}`,
        );
      await append('code-review:v1', archive);
      const read = await resolveSkill(`${registry.host}/org/code-review:v1`, options);
      expect(read).toMatchObject({ artifact: { name: 'code-review', body: '# Use it\n\nRead the files.\n' } });
      await append('other:v1', archive);
      expect(await resolveSkill(`${registry.host}/org/other:v1`, options)).toMatchObject({
        problem: 'unprocessable',
        detail: expect.stringContaining('its SKILL.md has the name "code-review", its repository "other"'),
      });
      await append('two:v1', archive, archive);
      expect(await resolveSkill(`${registry.host}/org/two:v1`, options)).toMatchObject({
        problem: 'unprocessable',
        detail: expect.stringContaining('more than one layer'),
      });
      expect(await resolveSkill(`${registry.host}/org/absent:v1`, options)).toMatchObject({ problem: 'not_found' });
      await mkdir(join(skill.home, 'none'), { recursive: true });
      expect(await readFile(join(skill.path, 'SKILL.md'), 'utf8')).toBe(skillText('code-review'));
    });
  },
);
