import { isPrivateHost } from '../../shared/safe-http/is-private-host.ts';
import { createRemoteHttp, type RemoteHttp } from '../../shared/safe-http/remote-http.ts';

/**
 * The HTTP client for metadata, registration and tokens of one remote server: https only, except on this machine; redirects
 * only within the origin; bounded answers.
 *
 * `urls`: the remote server, and the URLs that the user configured. Private addresses are allowed only if one of them has
 * a private address itself.
 */
export async function createOauthHttp(urls: readonly (string | undefined)[]): Promise<RemoteHttp> {
  const given = urls.filter((url) => url !== undefined);
  const allowPrivateAddresses = (await Promise.all(given.map(isPrivateHost))).includes(true);
  return createRemoteHttp({
    allowPrivateAddresses,
    allowHttp: 'loopback',
    followsWithinOrigin: true,
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_ANSWER_BYTES,
  });
}

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 256 * 1024;
