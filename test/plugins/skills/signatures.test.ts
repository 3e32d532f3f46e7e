import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { signatureVerifier } from '@toolmgr/plugins/image-verification';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SkillArtifact } from '../../../plugins/skills/artifact/artifact.ts';
import { buildSkill } from '../../../plugins/skills/artifact/build-skill.ts';
import { pushSkill } from '../../../plugins/skills/artifact/push-skill.ts';
import { resolveSkill } from '../../../plugins/skills/artifact/resolve-skill.ts';
import type { SigningChoice } from '../../../plugins/skills/signature/sign-digest.ts';
import { verifySkill } from '../../../plugins/skills/signature/verify-skill.ts';
import { type DockerRegistry, registryMissing, startDockerRegistry } from '../../support/docker-registry.ts';
import { type FakeSigstore, startSigstore, tokenWith, workflowClaims } from '../../support/fake-sigstore.ts';
import { type SkillFolder, skillFolder } from '../../support/skill-folder.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';

const signal = AbortSignal.timeout(120_000);

describe.skipIf(registryMissing() !== undefined)(`signatures of skills ${registryMissing() ?? ''}`, () => {
  let registry: DockerRegistry;
  let sigstore: FakeSigstore;
  let skill: SkillFolder;
  const folder = temporaryFolderOfFile('signatures');
  let rootFile: string;
  let count = 0;

  beforeAll(async () => {
    [registry, sigstore, skill] = await Promise.all([
      startDockerRegistry(),
      startSigstore(),
      skillFolder('code-review'),
    ]);
    rootFile = join(folder, 'root.json');
    await writeFile(rootFile, JSON.stringify(sigstore.trustedRoot));
  });
  afterAll(async () => {
    await Promise.all([registry, sigstore, skill].map((each) => each?.[Symbol.asyncDispose]()));
  });

  const pushed = async (choice: SigningChoice, env: NodeJS.ProcessEnv = {}) => {
    const reference = `${registry.host}/org${++count}/code-review:v1`;
    const store = join(folder, 'store');
    await buildSkill(skill.path, reference, { store, env: process.env });
    const options = { store, signal, env: { HOME: folder, ...env }, allowPrivateAddresses: true };
    const answer = await pushSkill(reference, choice, { ...options, fulcioUrl: sigstore.url, rekorUrl: sigstore.url });
    const read = await resolveSkill(reference, { ...options, store: join(folder, 'none') });
    return { reference, answer, artifact: 'artifact' in read ? read.artifact : undefined };
  };
  const verified = (artifact: SkillArtifact | undefined, keys: readonly string[] = []) =>
    verifySkill(artifact as SkillArtifact, {
      signal,
      signatures: signatureVerifier,
      cacheDir: folder,
      trustedRootFile: rootFile,
      publicKeyFiles: keys,
      allowPrivateAddresses: true,
      env: { HOME: folder },
    });
  const writeKey = async (name: string, type: 'ec' | 'ed25519', passphrase?: string) => {
    const pair = type === 'ec' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519');
    const cipher = passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase };
    await writeFile(join(folder, name), pair.privateKey.export({ type: 'pkcs8', format: 'pem', ...cipher }));
    await writeFile(join(folder, `${name}.pub`), pair.publicKey.export({ type: 'spki', format: 'pem' }));
    return join(folder, name);
  };

  it('with an identity token name the workflow, its repository and issuer', async () => {
    const token = tokenWith(workflowClaims('org/skills', 'release.yml'));
    const { answer, artifact } = await pushed({ kind: 'identity-token', token });
    expect(answer).toMatchObject({ isSigned: true });
    expect(await verified(artifact)).toMatchObject({
      kind: 'signed',
      signer: {
        identity: 'https://github.com/org/skills/.github/workflows/release.yml@refs/tags/v1',
        issuer: 'https://token.actions.githubusercontent.com',
        repositoryUri: 'https://github.com/org/skills',
        repositoryRef: 'refs/tags/v1',
        runnerEnvironment: 'github-hosted',
      },
    });
  });

  it('with a key are good only with the public key, also when the key is encrypted', async () => {
    const first = await writeKey('first.pem', 'ec');
    const second = await writeKey('second.pem', 'ed25519', 'open sesame');
    const one = await pushed({ kind: 'key', file: first });
    const two = await pushed({ kind: 'key', file: second }, { TOOLMGR_SIGNING_KEY_PASSWORD: 'open sesame' });
    for (const [{ artifact }, own, other] of [
      [one, first, second],
      [two, second, first],
    ] as const) {
      expect(await verified(artifact, [`${other}.pub`, `${own}.pub`])).toMatchObject({
        kind: 'signed',
        signer: { identity: expect.stringMatching(/^key:sha256:[0-9a-f]{64}$/) },
      });
      expect(await verified(artifact, [`${other}.pub`])).toMatchObject({
        kind: 'invalid',
        reason: expect.stringContaining('not trusted'),
      });
      expect(await verified(artifact)).toMatchObject({
        kind: 'invalid',
        reason: expect.stringContaining('no public key is trusted'),
      });
    }
  });

  it('of another artifact, and other statements about this one, do not count', async () => {
    const { artifact } = await pushed({ kind: 'unsigned' });
    expect(await verified(artifact)).toEqual({ kind: 'unsigned' });
    const claims = workflowClaims('org/skills', 'release.yml');
    const repository = artifact?.resolvedReference.replace(/^[^/]+\//, '').replace(/@.*/, '') ?? '';
    const attach = async (bundle: object) => {
      const digest = await registry.putBlob(repository, Buffer.from(JSON.stringify(bundle)));
      const config = await registry.putBlob(repository, Buffer.from('{}'));
      const type = 'application/vnd.dev.sigstore.bundle.v0.3+json';
      const manifest = {
        schemaVersion: 2,
        mediaType: 'application/vnd.oci.image.manifest.v1+json',
        config: { mediaType: 'application/vnd.oci.empty.v1+json', digest: config, size: 2 },
        layers: [{ mediaType: type, digest, size: JSON.stringify(bundle).length }],
      };
      const bytes = Buffer.from(JSON.stringify(manifest));
      const { createHash } = await import('node:crypto');
      const reference = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
      await registry.putManifest(repository, reference, bytes, manifest.mediaType);
      const index = {
        schemaVersion: 2,
        mediaType: 'application/vnd.oci.image.index.v1+json',
        manifests: [{ mediaType: manifest.mediaType, digest: reference, size: bytes.length }],
      };
      const tag = artifact?.digest.replace(':', '-') ?? '';
      await registry.putManifest(repository, tag, Buffer.from(JSON.stringify(index)), index.mediaType);
    };
    await attach(await sigstore.signStatement(`sha256:${'0'.repeat(64)}`, claims));
    expect(await verified(artifact)).toMatchObject({
      kind: 'invalid',
      reason: expect.stringContaining('another image'),
    });
    await attach(
      await sigstore.signStatement(artifact?.digest ?? '', claims, { predicateType: 'https://spdx.dev/Document' }),
    );
    expect(await verified(artifact)).toMatchObject({ kind: 'invalid' });
    await attach(await sigstore.signStatement(artifact?.digest ?? '', claims));
    expect(await verified(artifact)).toMatchObject({ kind: 'signed' });
  });

  it('are needed before anything is pushed: a token or key that cannot be used pushes nothing and is not in the answer', async () => {
    const answers = [
      await pushed({ kind: 'identity-token', token: 'a-secret-token' }),
      await pushed({ kind: 'key', file: join(folder, 'absent.pem') }),
      await pushed({ kind: 'key', file: 'relative.pem' }),
      await pushed({ kind: 'key', file: rootFile }),
      await pushed(
        { kind: 'key', file: await writeKey('third.pem', 'ec', 'open sesame') },
        { TOOLMGR_SIGNING_KEY_PASSWORD: 'wrong' },
      ),
    ];
    for (const { answer, artifact } of answers) {
      expect(answer).toMatchObject({ problem: 'bad_request' });
      expect(artifact).toBeUndefined();
      expect(JSON.stringify(answer)).not.toMatch(/a-secret-token|PRIVATE KEY|sesame|wrong/);
    }
    const reference = `${registry.host}/org/code-review:none`;
    const store = join(folder, 'store');
    await buildSkill(skill.path, reference, { store, env: process.env });
    const closed = { fulcioUrl: 'http://127.0.0.1:1', rekorUrl: 'http://127.0.0.1:1' };
    const token = tokenWith(workflowClaims('org/skills', 'release.yml'));
    const answer = await pushSkill(
      reference,
      { kind: 'identity-token', token },
      { store, signal, allowPrivateAddresses: true, env: {}, ...closed },
    );
    expect(answer).toMatchObject({ problem: 'upstream_failed' });
    expect(JSON.stringify(answer)).not.toContain(token);
  });
});
