import type { Era } from '../contract/era.ts';
import { GatewayFault } from '../errors.ts';
import type { EndpointSettings } from '../extension/plugin.ts';
import { ERAS } from '../pipeline/server-info.ts';

/** What plugins set about the endpoint while they were applied. */
export interface EndpointOptions {
  /** Supported revisions. */
  readonly eras: readonly Era[];
  readonly directPath: string | undefined;
}

/** Collects the endpoint settings of plugins for the given endpoint path. */
export function createEndpointSettings(endpointPath: string): {
  readonly settings: EndpointSettings;
  options(): EndpointOptions;
} {
  let only: Era | undefined;
  let directPath: string | undefined;
  const under = endpointPath.endsWith('/') ? endpointPath : `${endpointPath}/`;
  return {
    settings: {
      serveOnly(era) {
        if (only !== undefined && only !== era) {
          throw new GatewayFault('PLAN_INVALID', `one plugin requires revision ${only} only, another ${era} only`);
        }
        only = era;
      },
      serveDirect(path) {
        // Below the endpoint, so that a token for the endpoint is valid for it too (RFC 8707), and no route of a host
        // collides.
        if (!path.startsWith(under) || path.length === under.length) {
          throw new GatewayFault('PLAN_INVALID', `the direct path must lie below ${under}, got ${path}`);
        }
        if (directPath !== undefined) throw new GatewayFault('PLAN_INVALID', 'two plugins set a direct path');
        directPath = path;
      },
    },
    options: () => ({ eras: only === undefined ? ERAS : [only], directPath }),
  };
}
