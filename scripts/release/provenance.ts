import { writeFileSync } from 'node:fs';
import type { Checksum } from './checksums.ts';

/** What the statement says about the build. */
export interface BuildFacts {
  /** Where the source is, e.g. `https://github.com/toolmgr/toolmgr`. */
  readonly repository: string;
  /** Commit of the source, 40 hexadecimal digits. */
  readonly commit: string;
  readonly version: string;
  /** Version of Node.js that ran the build. */
  readonly node: string;
  readonly startedOn: Date;
  readonly finishedOn: Date;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const PAYLOAD_TYPE = 'application/vnd.in-toto+json';

/**
 * An in-toto statement with SLSA provenance about files.
 *
 * Source: in-toto.io/Statement/v1, slsa.dev/provenance/v1.
 */
export function provenanceOf(files: readonly Checksum[], facts: BuildFacts): object {
  const { repository, commit, version, node, startedOn, finishedOn, env } = facts;
  const { builder, invocation } = builderOf(env);
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `${repository}/blob/main/docs/project/releasing.md`,
        externalParameters: { version, source: { uri: `git+${repository}`, commit } },
        internalParameters: { node },
        resolvedDependencies: [{ uri: `git+${repository}@${commit}`, digest: { gitCommit: commit } }],
      },
      runDetails: {
        builder: { id: builder },
        metadata: {
          ...(invocation === undefined ? {} : { invocationId: invocation }),
          startedOn: startedOn.toISOString(),
          finishedOn: finishedOn.toISOString(),
        },
      },
    },
  };
}

/** A build outside CI has no identity that a reader could check: the statement says so. */
function builderOf(env: BuildFacts['env']): { readonly builder: string; readonly invocation?: string } {
  const { GITHUB_ACTIONS, GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run } = env;
  const { GITHUB_WORKFLOW_REF: workflow, GITHUB_RUN_ATTEMPT: attempt = '1' } = env;
  if (GITHUB_ACTIONS !== 'true' || !server || !repository || !run) return { builder: 'urn:toolmgr:build:local' };
  return {
    builder: workflow === undefined ? `${server}/${repository}` : `${server}/${workflow}`,
    invocation: `${server}/${repository}/actions/runs/${run}/attempts/${attempt}`,
  };
}

/** Where statements are signed; tests have their own. */
export interface Signing {
  readonly fulcioUrl?: string;
  readonly rekorUrl?: string;
  /** An OIDC token of the build. */
  readonly token: () => Promise<string>;
}

/** Signs a statement with Sigstore and writes the bundle. The certificate names the identity of the build. */
export async function writeSignedProvenance(statement: object, file: string, signing: Signing): Promise<void> {
  const { DSSEBundleBuilder, FulcioSigner, RekorWitness } = await import('@sigstore/sign');
  const retry = { timeout: 30_000, retry: 2 };
  const builder = new DSSEBundleBuilder({
    signer: new FulcioSigner({
      ...(signing.fulcioUrl && { fulcioBaseURL: signing.fulcioUrl }),
      ...retry,
      identityProvider: { getToken: signing.token },
    }),
    witnesses: [new RekorWitness({ ...(signing.rekorUrl && { rekorBaseURL: signing.rekorUrl }), ...retry })],
  });
  const bundle = await builder.create({ data: Buffer.from(JSON.stringify(statement)), type: PAYLOAD_TYPE });
  const { bundleToJSON } = await import('@sigstore/bundle');
  writeFileSync(file, `${JSON.stringify(bundleToJSON(bundle))}\n`);
}

/** The identity of the build for Sigstore; `undefined` outside a CI that gives one. */
export async function signingOf(env: BuildFacts['env']): Promise<Signing | undefined> {
  const { SIGSTORE_ID_TOKEN: token, ACTIONS_ID_TOKEN_REQUEST_URL: url } = env;
  if (token) return { token: async () => token };
  if (!url) return undefined;
  const { CIContextProvider } = await import('@sigstore/sign');
  const provider = new CIContextProvider('sigstore');
  return { token: () => provider.getToken() };
}
