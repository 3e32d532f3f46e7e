import { readFile } from 'node:fs/promises';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import type { TrustRootOptions } from '@toolmgr/plugins/kit/oci';

/** The public-good instance of Sigstore; its first root is part of `@sigstore/tuf`. */
export const PUBLIC_GOOD = 'https://tuf-repo-cdn.sigstore.dev';
const DOWNLOAD_MS = 10_000;

/**
 * The trust root: the file of the user, else that of `sigstore_url`, by TUF. A registry cannot choose another root: only the
 * public-good instance is known without a file.
 *
 * @throws Error when it cannot be read or downloaded; the message says what helps
 */
export async function readTrustRoot(
  sigstoreUrl: string | undefined,
  { trustedRootFile, cacheDir }: TrustRootOptions,
): Promise<TrustedRoot> {
  if (trustedRootFile !== undefined) return TrustedRoot.fromJSON(JSON.parse(await readFile(trustedRootFile, 'utf8')));
  const mirrorURL = mirrorOf(sigstoreUrl);
  if (mirrorURL !== PUBLIC_GOOD) {
    throw new Error(`the trust root of ${mirrorURL} is not known (toolmgr config set sigstore-trusted-root FILE)`);
  }
  const { getTrustedRoot } = await import('@sigstore/tuf');
  return getTrustedRoot({ mirrorURL, cachePath: cacheDir, timeout: DOWNLOAD_MS, retry: 1 });
}

function mirrorOf(url = PUBLIC_GOOD): string {
  return (/^https?:\/\//.test(url) ? url : `https://${url}`).replace(/\/+$/, '');
}
