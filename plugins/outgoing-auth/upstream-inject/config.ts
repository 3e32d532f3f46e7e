import { headerName } from '@toolmgr/plugins/kit/credentials';
import { z } from 'zod';

/** Options of `upstream_inject`. Source: vmcp spec §2 outgoingAuth `upstreamInject`. */
export const upstreamInjectOptions = z.strictObject({
  providerName: z
    .string()
    .min(1, 'expected the name of an upstream provider')
    .describe('upstream provider of the authorization server whose access token is sent'),
  // extension
  headerName: headerName.default('authorization').describe('header that carries the token, as `Bearer TOKEN`'),
});
