import { join } from 'node:path';
import { isImageReference } from '@toolmgr/plugins/kit/oci';
import type { RunConfig } from '@toolmgr/plugins/kit/workloads';
import { cacheDir } from '@toolmgr/plugins/registry';
import { UsageError } from '../../shared/usage-error.ts';
import { readUserConfig } from '../../shared/user-config.ts';
import type { RunFlags } from '../fields/options.ts';
import type { FromRegistry } from '../registry/from-registry.ts';

/** The outcome of `--image-verification`. */
export interface CheckedImage {
  /** The verified image, which is run instead of its tag. */
  readonly digest?: string;
  /** For the user: who signed it, or that it is not verified. */
  readonly says?: string;
  readonly warning?: string;
}

/**
 * Verifies the image of a new workload: `warn` (the default) warns, `enabled` refuses what is not verified, `disabled` checks nothing.
 * An image that no registry entry describes has no provenance, which is only said with `warn`.
 *
 * Source: run spec §4; reference run-command §6.
 * @throws UsageError with `enabled`, naming the reason
 */
export async function checkImage(
  { image }: Pick<RunConfig, 'image'>,
  { entry, allowsPrivateAddresses = false }: Pick<FromRegistry, 'entry' | 'allowsPrivateAddresses'>,
  mode: RunFlags['imageVerification'] = 'warn',
): Promise<CheckedImage> {
  if (image === undefined || mode === 'disabled') return {};
  const provenance = entry?.image?.provenance;
  if (provenance === undefined || !isImageReference(image)) {
    const why = isImageReference(image)
      ? 'there is no provenance information about it: it is no entry of the registry, or the entry has none'
      : 'it is built here from a package, so that it has no signature';
    if (mode === 'enabled') throw refused(image, why);
    return isImageReference(image) ? { says: 'not verified' } : {};
  }
  const { verifyImage } = await import('@toolmgr/plugins/image-verification');
  const { sigstore_trusted_root: trustedRootFile } = await readUserConfig();
  const result = await verifyImage(image, provenance, {
    allowPrivateAddresses: allowsPrivateAddresses,
    env: process.env,
    cacheDir: join(cacheDir(process.env), 'sigstore'),
    ...(trustedRootFile === undefined ? {} : { trustedRootFile }),
  });
  if (result.kind === 'verified') return { digest: result.digest, says: `signed by ${result.signer}` };
  if (mode === 'enabled') throw refused(image, result.reason);
  return { says: 'not verified', warning: `the image ${image} is not verified: ${result.reason}` };
}

function refused(image: string, why: string): UsageError {
  return new UsageError(`--image-verification enabled: ${image} is not verified: ${why}`);
}
