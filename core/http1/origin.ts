import type { AllowedAddresses } from '../contract/backend.ts';
import type { ProxyRoute } from './proxy-route.ts';
import type { ClientIdentity } from './tls-files.ts';

/** Where a pool connects to. */
export interface Origin {
  readonly isTls: boolean;
  /** A name or an address, without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** As the `Host` header has it. */
  readonly host: string;
  /** Certificates that are trusted instead of the system's, PEM. */
  readonly ca: string | undefined;
  /** Presented when the server demands a client certificate. */
  readonly identity?: ClientIdentity | undefined;
  /** Where its name may lead; `undefined`: anywhere. A forward proxy resolves names itself. */
  readonly addresses: AllowedAddresses | undefined;
  /** The forward proxy on the way there. */
  readonly proxy: ProxyRoute | undefined;
}

/** The origin of an http or https URL. */
export function originFrom(url: URL, ca?: string, proxy?: ProxyRoute, addresses?: AllowedAddresses): Origin {
  const isTls = url.protocol === 'https:';
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port);
  return { isTls, hostname: url.hostname.replace(/^\[|\]$/g, ''), port, host: url.host, ca, addresses, proxy };
}
