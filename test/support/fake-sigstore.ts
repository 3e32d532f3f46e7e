import { createHash, generateKeyPairSync } from 'node:crypto';
import { bundleToJSON } from '@sigstore/bundle';
import { fulcioHandler, initializeCA, initializeCTLog, initializeTLog, rekorHandler } from '@sigstore/mock';
import { DSSEBundleBuilder, FulcioSigner, MessageSignatureBundleBuilder, RekorWitness } from '@sigstore/sign';
import { loopbackServer } from './loopback-server.ts';

/** Claims of the identity token of who signs; they become extensions of the certificate. */
export type Claims = Readonly<Record<string, string>>;

/** A certificate authority and a transparency log of a test, at loopback. */
export interface FakeSigstore extends AsyncDisposable {
  /** Address of both. */
  readonly url: string;
  /** `trusted_root.json` with its keys. */
  readonly trustedRoot: object;
  /** Signs bytes; a bundle as JSON, whose entry of the log has kind `hashedrekord`. */
  signBytes(data: Buffer, claims: Claims): Promise<Bundle>;
  /** Signs an in-toto statement about an image; a bundle as JSON. */
  signStatement(digest: string, claims: Claims, more?: object): Promise<Bundle>;
}

/** The parts of a serialized bundle that tests use. */
export interface Bundle {
  readonly mediaType: string;
  readonly verificationMaterial: {
    readonly certificate?: { readonly rawBytes: string };
    readonly x509CertificateChain?: { readonly certificates: readonly { readonly rawBytes: string }[] };
    readonly tlogEntries: readonly {
      readonly logIndex: string;
      readonly logId: { readonly keyId: string };
      readonly integratedTime: string;
      readonly inclusionPromise?: { readonly signedEntryTimestamp: string };
      readonly canonicalizedBody: string;
    }[];
  };
  readonly messageSignature?: { readonly signature: string };
  readonly dsseEnvelope?: { readonly payload: string };
}

/** Claims as GitHub Actions makes them for a workflow. */
export function workflowClaims(repository: string, workflow: string, more: Claims = {}): Claims {
  return {
    sub: `https://github.com/${repository}/.github/workflows/${workflow}@refs/tags/v1`,
    iss: 'https://token.actions.githubusercontent.com',
    repository,
    ref: 'refs/tags/v1',
    runner_environment: 'github-hosted',
    ...more,
  };
}

/** Starts a Fulcio and a Rekor with keys of their own. */
export async function startSigstore(): Promise<FakeSigstore> {
  const pair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ctlog = await initializeCTLog(pair());
  const ca = await initializeCA(pair(), ctlog);
  const handlers = new Map<
    string,
    (body: string) => Promise<{ statusCode: number; response: string | Buffer; contentType?: string }>
  >();
  const server = await loopbackServer((request, response) => {
    const handle = handlers.get(request.url ?? '');
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.once('end', async () => {
      const answer = await handle?.(body);
      response.writeHead(answer?.statusCode ?? 404, { 'content-type': answer?.contentType ?? 'text/plain' });
      response.end(answer?.response ?? '');
    });
  });
  const tlog = await initializeTLog(server.url, pair());
  for (const { path, fn } of [fulcioHandler(ca), rekorHandler(tlog)]) handlers.set(path, fn as never);
  const parts = (claims: Claims, entryType?: 'intoto') => ({
    signer: new FulcioSigner({
      fulcioBaseURL: server.url,
      identityProvider: { getToken: async () => tokenWith(claims) },
    }),
    witnesses: [new RekorWitness({ rekorBaseURL: server.url, ...(entryType === undefined ? {} : { entryType }) })],
  });
  const asJson = (bundle: Parameters<typeof bundleToJSON>[0]): Bundle => bundleToJSON(bundle) as unknown as Bundle;
  return {
    url: server.url,
    trustedRoot: rootOf(server.url, tlog.publicKey, ctlog, Buffer.from(ca.rootCertificate.buffer)),
    signBytes: async (data, claims) => asJson(await new MessageSignatureBundleBuilder(parts(claims)).create({ data })),
    async signStatement(digest, claims, more = {}) {
      const statement = {
        _type: 'https://in-toto.io/Statement/v1',
        subject: [{ digest: { sha256: digest.replace('sha256:', '') } }],
        predicateType: 'https://sigstore.dev/cosign/sign/v1',
        predicate: {},
        ...more,
      };
      const builder = new DSSEBundleBuilder({ ...parts(claims, 'intoto'), certificateChain: false });
      return asJson(
        await builder.create({ data: Buffer.from(JSON.stringify(statement)), type: 'application/vnd.in-toto+json' }),
      );
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** An identity token; the certificate authority of the test does not check its signature. */
export function tokenWith(claims: Claims): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part(claims)}.${Buffer.from('none').toString('base64url')}`;
}

function rootOf(baseUrl: string, tlogKey: Buffer, ctlog: { readonly publicKey: Buffer }, certificate: Buffer): object {
  const validFor = { start: '2020-01-01T00:00:00Z' };
  const log = (key: Buffer) => ({
    baseUrl,
    hashAlgorithm: 'SHA2_256',
    publicKey: { rawBytes: key.toString('base64'), keyDetails: 'PKIX_ECDSA_P256_SHA_256', validFor },
    logId: { keyId: createHash('sha256').update(key).digest('base64') },
  });
  return {
    mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
    tlogs: [log(tlogKey)],
    certificateAuthorities: [
      {
        subject: { organization: 'test', commonName: 'test' },
        uri: baseUrl,
        certChain: { certificates: [{ rawBytes: certificate.toString('base64') }] },
        validFor,
      },
    ],
    ctlogs: [log(ctlog.publicKey)],
    timestampAuthorities: [],
  };
}
