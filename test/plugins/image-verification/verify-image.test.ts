import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { verifyImage } from '@toolmgr/plugins/image-verification';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Bundle,
  type Claims,
  type FakeSigstore,
  startSigstore,
  workflowClaims,
} from '../../support/fake-sigstore.ts';
import { type FakeRegistry, type RegistryAbilities, startRegistry } from '../../support/oci-registry.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';

const BUNDLE_TYPE = 'application/vnd.dev.sigstore.bundle.v0.3+json';
const IMAGE_MANIFEST = {
  schemaVersion: 2,
  mediaType: 'application/vnd.oci.image.manifest.v1+json',
  config: {},
  layers: [],
};
const CLAIMS = workflowClaims('org/server', 'release.yml');
const PROVENANCE = {
  sigstore_url: 'tuf-repo-cdn.sigstore.dev',
  repository_uri: 'https://github.com/org/server',
  signer_identity: '/.github/workflows/release.yml',
  runner_environment: 'github-hosted',
  cert_issuer: 'https://token.actions.githubusercontent.com',
};

let sigstore: FakeSigstore;
const folder = temporaryFolderOfFile('verify');
let trustedRootFile: string;

beforeAll(async () => {
  sigstore = await startSigstore();
  trustedRootFile = join(folder, 'trusted_root.json');
  await writeFile(trustedRootFile, JSON.stringify(sigstore.trustedRoot));
});
afterAll(() => sigstore[Symbol.asyncDispose]());

const options = (more: object = {}) => ({
  trustedRootFile,
  cacheDir: folder,
  allowPrivateAddresses: true,
  env: {},
  ...more,
});
const verify = (registry: FakeRegistry, provenance: object | undefined = PROVENANCE, more: object = {}) =>
  verifyImage(`${registry.host}/org/server:1`, provenance, options(more));

/** Stores a bundle as a manifest that refers to the image; `tag` for the fallback without the referrers API. */
function attach(registry: FakeRegistry, digest: string, bundle: unknown, tagged: boolean): void {
  const layer = { mediaType: BUNDLE_TYPE, digest: registry.putBlob(JSON.stringify(bundle)), size: 1 };
  const referring = registry.putManifest({ ...IMAGE_MANIFEST, layers: [layer], subject: { digest } });
  if (tagged) registry.putManifest({ manifests: [{ digest: referring }] }, digest.replace(':', '-'));
}

/** A signature in the form of cosign before version 3. */
async function attachOld(registry: FakeRegistry, digest: string, claims: Claims, signedDigest = digest): Promise<void> {
  const payload = Buffer.from(JSON.stringify({ critical: { image: { 'docker-manifest-digest': signedDigest } } }));
  const bundle = await sigstore.signBytes(payload, claims);
  const material = bundle.verificationMaterial;
  const [entry] = material.tlogEntries;
  const der = material.certificate?.rawBytes ?? material.x509CertificateChain?.certificates[0]?.rawBytes ?? '';
  const annotations = {
    'dev.cosignproject.cosign/signature': bundle.messageSignature?.signature,
    'dev.sigstore.cosign/certificate': `-----BEGIN CERTIFICATE-----\n${der}\n-----END CERTIFICATE-----\n`,
    'dev.sigstore.cosign/bundle': JSON.stringify({
      SignedEntryTimestamp: entry?.inclusionPromise?.signedEntryTimestamp,
      Payload: {
        body: entry?.canonicalizedBody,
        integratedTime: Number(entry?.integratedTime),
        logIndex: Number(entry?.logIndex),
        logID: Buffer.from(entry?.logId.keyId ?? '', 'base64').toString('hex'),
      },
    }),
  };
  const layer = {
    mediaType: 'application/vnd.dev.cosign.simplesigning.v1+json',
    digest: registry.putBlob(payload),
    annotations,
  };
  registry.putManifest({ ...IMAGE_MANIFEST, layers: [layer] }, `${digest.replace(':', '-')}.sig`);
}

async function signed(claims: Claims, abilities: RegistryAbilities = { referrers: true }, more: object = {}) {
  const registry = await startRegistry(abilities);
  const digest = registry.putManifest(IMAGE_MANIFEST, '1');
  attach(registry, digest, await sigstore.signStatement(digest, claims, more), abilities.referrers !== true);
  return { registry, digest };
}

describe('the verification of an image', () => {
  it.each([
    ['the referrers API', { referrers: true }],
    ['the tag of its digest', {}],
    [
      'a registry with a login, and blobs in a storage service',
      { referrers: true, login: 'me:secret', redirectsBlobs: true },
    ],
  ] satisfies [string, RegistryAbilities][])('accepts a bundle found by %s', async (_, abilities) => {
    const { registry, digest } = await signed(CLAIMS, abilities);
    await using _server = registry;
    const auth = Buffer.from('me:secret').toString('base64');
    await writeFile(join(folder, 'config.json'), JSON.stringify({ auths: { [registry.host]: { auth } } }));
    expect(await verify(registry, PROVENANCE, { env: { DOCKER_CONFIG: folder } })).toEqual({
      kind: 'verified',
      digest,
      signer: 'https://github.com/org/server/.github/workflows/release.yml@refs/tags/v1',
    });
  });

  it('accepts a signature of an older cosign, and a bundle over the manifest itself', async () => {
    await using old = await startRegistry();
    const digest = old.putManifest(IMAGE_MANIFEST, '1');
    await attachOld(old, digest, CLAIMS);
    expect(await verify(old)).toMatchObject({ kind: 'verified', digest });
    await using plain = await startRegistry({ referrers: true });
    plain.putManifest(IMAGE_MANIFEST, '1');
    attach(plain, digest, await sigstore.signBytes(Buffer.from(JSON.stringify(IMAGE_MANIFEST)), CLAIMS), false);
    expect(await verify(plain)).toMatchObject({ kind: 'verified', digest });
  });

  it('accepts one good signature beside bad ones', async () => {
    const { registry, digest } = await signed({ ...CLAIMS, repository: 'evil/server' });
    await using _server = registry;
    attach(registry, digest, { nonsense: true }, false);
    attach(registry, digest, await sigstore.signStatement(digest, CLAIMS), false);
    expect(await verify(registry)).toMatchObject({ kind: 'verified' });
  });

  it('compares only what the registry says, and needs a repository or a signer', async () => {
    const { registry } = await signed(CLAIMS);
    await using _server = registry;
    expect(await verify(registry, { repository_uri: 'https://github.com/org/server' })).toMatchObject({
      kind: 'verified',
    });
    expect(await verify(registry, { ...PROVENANCE, repository_ref: 'refs/tags/v1' })).toMatchObject({
      kind: 'verified',
    });
    for (const provenance of [undefined, {}, { cert_issuer: PROVENANCE.cert_issuer }, { repository_uri: '/' }]) {
      const result = await verifyImage(`${registry.host}/org/server:1`, provenance, options());
      expect(result).toEqual({
        kind: 'unverified',
        reason: 'there is no provenance information about it in the registry',
      });
    }
  });

  it('compares the predicate of an attestation', async () => {
    const type = 'https://slsa.dev/provenance/v1';
    const { registry } = await signed(CLAIMS, { referrers: true }, { predicateType: type, predicate: { a: 1 } });
    await using _server = registry;
    const of = (attestation: object) => verify(registry, { ...PROVENANCE, attestation });
    expect(await of({ predicate_type: type, predicate: { a: 1 } })).toMatchObject({ kind: 'verified' });
    expect(await of({ predicate_type: 'other' })).toMatchObject({
      reason: expect.stringContaining('attestation is of the type'),
    });
    expect(await of({ predicate: { a: 2 } })).toMatchObject({ reason: expect.stringContaining('another predicate') });
  });
});

describe('the verification of an image refuses', () => {
  it.each([
    ['another repository', { repository: 'evil/server' }, 'repository "https://github.com/evil/server"'],
    ['another issuer', { iss: 'https://evil.example' }, 'issuer "https://evil.example"'],
    [
      'another workflow',
      { sub: 'https://github.com/org/server/.github/workflows/other.yml@refs/tags/v1' },
      'signer "https://github.com/org/server/.github/workflows/other.yml"',
    ],
    [
      'a workflow whose name begins alike',
      { sub: 'https://github.com/org/server/.github/workflows/release.yml.evil@v1' },
      'signer',
    ],
    ['a runner that the owner hosts', { runner_environment: 'self-hosted' }, 'runner environment "self-hosted"'],
  ])('a signature of %s', async (_, claims, reason) => {
    const { registry } = await signed({ ...CLAIMS, ...claims });
    await using _server = registry;
    expect(await verify(registry)).toMatchObject({ kind: 'unverified', reason: expect.stringContaining(reason) });
  });

  it('an image that is not signed, and a tag that does not exist', async () => {
    await using registry = await startRegistry({ referrers: true });
    expect(await verify(registry)).toEqual({ kind: 'unverified', reason: 'its registry does not have it' });
    registry.putManifest(IMAGE_MANIFEST, '1');
    expect(await verify(registry)).toEqual({ kind: 'unverified', reason: 'it is not signed' });
  });

  it('a signature of another image', async () => {
    await using registry = await startRegistry({ referrers: true });
    const digest = registry.putManifest(IMAGE_MANIFEST, '1');
    const other = `sha256:${'0'.repeat(64)}`;
    attach(registry, digest, await sigstore.signStatement(other, CLAIMS), false);
    expect(await verify(registry)).toMatchObject({ reason: 'its signature is of another image' });
    await using old = await startRegistry();
    old.putManifest(IMAGE_MANIFEST, '1');
    await attachOld(old, digest, CLAIMS, other);
    expect(await verify(old)).toMatchObject({ reason: 'its signature is of another image' });
    await using plain = await startRegistry({ referrers: true });
    plain.putManifest(IMAGE_MANIFEST, '1');
    attach(plain, digest, await sigstore.signBytes(Buffer.from('other'), CLAIMS), false);
    expect(await verify(plain)).toMatchObject({ reason: expect.stringContaining('its signature does not fit') });
  });

  it('a payload that was changed after it was signed', async () => {
    await using registry = await startRegistry({ referrers: true });
    const digest = registry.putManifest(IMAGE_MANIFEST, '1');
    const other = await sigstore.signStatement(`sha256:${'0'.repeat(64)}`, CLAIMS);
    const good = await sigstore.signStatement(digest, CLAIMS);
    const swapped: Bundle = {
      ...other,
      dsseEnvelope: { ...other.dsseEnvelope, payload: good.dsseEnvelope?.payload ?? '' },
    };
    attach(registry, digest, swapped, false);
    expect(await verify(registry)).toMatchObject({
      kind: 'unverified',
      reason: expect.stringMatching(/signature|log/),
    });
  });

  it('a certificate of another root, and a signature without an entry in the log', async () => {
    await using stranger = await startSigstore();
    await using registry = await startRegistry({ referrers: true });
    const digest = registry.putManifest(IMAGE_MANIFEST, '1');
    attach(registry, digest, await stranger.signStatement(digest, CLAIMS), false);
    expect(await verify(registry)).toMatchObject({
      reason: expect.stringContaining('the certificate of its signature is not of the trust root'),
    });
    await using unlogged = await startRegistry({ referrers: true });
    unlogged.putManifest(IMAGE_MANIFEST, '1');
    const bundle = await sigstore.signStatement(digest, CLAIMS);
    attach(
      unlogged,
      digest,
      { ...bundle, verificationMaterial: { ...bundle.verificationMaterial, tlogEntries: [] } },
      false,
    );
    expect(await verify(unlogged)).toMatchObject({ kind: 'unverified' });
  });

  it('a registry that answers other bytes than a digest names', async () => {
    const { registry, digest } = await signed(CLAIMS);
    await using _server = registry;
    registry.corrupt(digest, JSON.stringify({ ...IMAGE_MANIFEST, layers: ['evil'] }));
    const byDigest = await verifyImage(`${registry.host}/org/server@${digest}`, PROVENANCE, options());
    expect(byDigest).toMatchObject({ reason: expect.stringContaining('answered another manifest') });
    // by tag it is another image, which is not signed
    expect(await verify(registry)).toMatchObject({ reason: 'it is not signed' });
  });

  it('what it cannot reach or may not reach, and says why', async () => {
    const { registry } = await signed(CLAIMS);
    await using _server = registry;
    expect(await verify(registry, PROVENANCE, { allowPrivateAddresses: false })).toMatchObject({
      reason: expect.stringContaining('https'),
    });
    expect(await verify(registry, PROVENANCE, { trustedRootFile: '/no/such/root.json' })).toMatchObject({
      reason: expect.stringContaining('the trust root of its signatures is not available'),
    });
    expect(
      await verify(registry, { ...PROVENANCE, sigstore_url: 'tuf.evil.example' }, { trustedRootFile: undefined }),
    ).toMatchObject({
      reason: expect.stringContaining('the trust root of https://tuf.evil.example is not known'),
    });
    await registry[Symbol.asyncDispose]();
    expect(await verify(registry)).toMatchObject({
      reason: expect.stringContaining('its digest could not be resolved'),
    });
  });

  it('a token server that gives no token, and shows no password', async () => {
    const { registry } = await signed(CLAIMS, { referrers: true, login: 'me:secret' });
    await using _server = registry;
    const auth = Buffer.from('me:wrong-password').toString('base64');
    await writeFile(join(folder, 'config.json'), JSON.stringify({ auths: { [registry.host]: { auth } } }));
    const result = await verify(registry, PROVENANCE, { env: { DOCKER_CONFIG: folder } });
    expect(result).toMatchObject({ kind: 'unverified', reason: expect.stringContaining('401') });
    expect(JSON.stringify(result)).not.toMatch(/wrong-password|bWU6/);
  });
});
