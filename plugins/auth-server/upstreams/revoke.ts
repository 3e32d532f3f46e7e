import { type Configuration, tokenRevocation } from 'openid-client';
import type { UpstreamTokenSet } from './upstream.ts';

/** Revokes the refresh token, or the access token without one (RFC 7009). A provider without that endpoint keeps them. */
export async function revokeTokens(
  { refreshToken, accessToken }: UpstreamTokenSet,
  withLibrary: (use: (library: Configuration) => Promise<void>) => Promise<void>,
): Promise<void> {
  const [token, hint] = refreshToken === undefined ? [accessToken, 'access_token'] : [refreshToken, 'refresh_token'];
  try {
    await withLibrary(async (library) => {
      if (library.serverMetadata().revocation_endpoint === undefined) return;
      await tokenRevocation(library, token.reveal(), { token_type_hint: hint });
    });
  } catch {
    // the tokens are deleted here anyway, and end by themselves at the provider
  }
}
