import { DEFAULT_ORIGINS, type PlanInput } from '@toolmgr/core';
import { isLoopbackHost, LOOPBACK_NAMES } from '../../http/listen.ts';
import { ALLOWED_ORIGINS } from '../../shared/allowed-origins.ts';

/** How refusals name the option that allows an origin. */
export const ORIGIN_OPTION = `toolmgr serve ${ALLOWED_ORIGINS.name}`;

/** Which Host and Origin values the MCP endpoints of a manager accept, as part of a plan. */
export type EndpointAddress = Pick<NonNullable<PlanInput['endpoint']>, 'loopback' | 'allowedHosts' | 'allowedOrigins'>;

/** Where a manager listens, and what its user allows. */
export interface ListenAddress {
  readonly listen: { readonly socket: string } | { readonly host: string; readonly port: number };
  /** More names that `Host` may have. */
  readonly allowedHosts?: readonly string[];
  /** Origins of pages that may use the MCP endpoints; default: those of MCP Inspector. */
  readonly allowedOrigins?: readonly string[];
}

/**
 * What the MCP endpoints accept. The manager has checked the Host.
 *
 * Where other machines reach it, the addresses in Host are not known, so the endpoints cannot check it and a name is not known to be
 * the manager's own: the origins of the allowed names are listed.
 */
export function endpointAddress({ listen, allowedHosts = [], allowedOrigins }: ListenAddress): EndpointAddress {
  const configured = allowedOrigins === undefined ? {} : { allowedOrigins: [...allowedOrigins] };
  if ('socket' in listen) return { loopback: false, ...configured };
  if (isLoopbackHost(listen.host)) {
    return { loopback: true, allowedHosts: [...LOOPBACK_NAMES, ...allowedHosts], ...configured };
  }
  const own = allowedHosts.flatMap((name) => [`http://${name}`, `https://${name}`, `http://${name}:${listen.port}`]);
  return { loopback: false, allowedOrigins: [...(allowedOrigins ?? DEFAULT_ORIGINS), ...own] };
}
