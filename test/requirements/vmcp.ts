import { aggregation } from './vmcp/aggregation.ts';
import { authServer } from './vmcp/auth-server.ts';
import { compositeTools } from './vmcp/composite-tools.ts';
import { credentials } from './vmcp/credentials.ts';
import { features } from './vmcp/features.ts';
import { resource } from './vmcp/resource.ts';
import { server } from './vmcp/server.ts';
import { status } from './vmcp/status.ts';
import { upstreamProviders } from './vmcp/upstream-providers.ts';

/** Every checkable line of the vmcp spec. */
export const vmcp = [
  ...resource,
  ...authServer,
  ...upstreamProviders,
  ...server,
  ...aggregation,
  ...credentials,
  ...compositeTools,
  ...features,
  ...status,
] as const;
