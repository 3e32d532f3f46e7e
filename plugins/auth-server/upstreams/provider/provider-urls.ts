import { remoteUrlProblem, type UrlRules } from '@toolmgr/plugins/kit/safe-http/addresses';
import type { Oauth2Config } from '../oauth2/oauth2-config.ts';
import type { OidcUpstreamConfig } from '../oidc/oidc-config.ts';

/** The parts of a provider's configuration that decide which addresses it may have. */
export interface ProviderAddresses {
  readonly oidcConfig?: OidcUpstreamConfig | undefined;
  readonly oauth2Config?: Oauth2Config | undefined;
  readonly allowPrivateAddresses: boolean | readonly string[];
  readonly insecureAllowHTTP: boolean;
}

/** A URL of the configuration. */
export interface ConfiguredUrl {
  readonly path: readonly string[];
  readonly url: string;
  /** Browsers go there, not the gateway: private addresses are harmless. */
  readonly isForBrowser: boolean;
}

/** The http and https URLs of a provider as they were configured; the schema refuses others. */
export function configuredUrls({ oidcConfig, oauth2Config }: ProviderAddresses): readonly ConfiguredUrl[] {
  const dcr = oauth2Config?.dcrConfig;
  const all: readonly (readonly [path: readonly string[], url: string | undefined])[] = [
    [['oidcConfig', 'issuerUrl'], oidcConfig?.issuerUrl],
    [['oidcConfig', 'userInfoOverride', 'endpointUrl'], oidcConfig?.userInfoOverride?.endpointUrl],
    [['oauth2Config', 'authorizationEndpoint'], oauth2Config?.authorizationEndpoint],
    [['oauth2Config', 'tokenEndpoint'], oauth2Config?.tokenEndpoint],
    [['oauth2Config', 'userInfo', 'endpointUrl'], oauth2Config?.userInfo?.endpointUrl],
    [['oauth2Config', 'dcrConfig', 'discoveryUrl'], dcr?.discoveryUrl],
    [['oauth2Config', 'dcrConfig', 'registrationEndpoint'], dcr?.registrationEndpoint],
  ];
  return all.flatMap(([path, url]) =>
    url === undefined || !/^https?:/i.test(url)
      ? []
      : [{ path, url, isForBrowser: path.at(-1) === 'authorizationEndpoint' }],
  );
}

/** Returns the rules for a URL of one provider, also for URLs that its documents name. */
export function addressRules(provider: ProviderAddresses): (url: string) => UrlRules {
  const { allowPrivateAddresses, insecureAllowHTTP } = provider;
  const hosts = new Set(allowPrivateAddresses === false ? [] : configuredUrls(provider).map(({ url }) => hostOf(url)));
  if (Array.isArray(allowPrivateAddresses)) for (const host of allowPrivateAddresses) hosts.add(host.toLowerCase());
  const open: UrlRules = { allowPrivateAddresses: true, allowHttp: insecureAllowHTTP || 'loopback' };
  const closed: UrlRules = { allowHttp: insecureAllowHTTP };
  return (url) => (hosts.has(hostOf(url)) || hosts.has(URL.parse(url)?.hostname ?? '') ? open : closed);
}

/** Why a configured URL cannot be used, with the setting that allows it; `undefined` when it can. */
export function configuredUrlProblem(
  { url, isForBrowser }: ConfiguredUrl,
  rulesOf: (url: string) => UrlRules,
): string | undefined {
  const rules = rulesOf(url);
  const problem = remoteUrlProblem(url, isForBrowser ? { ...rules, allowPrivateAddresses: true } : rules);
  if (problem === undefined) return undefined;
  if (problem.startsWith('leads to')) return `${problem} (allowPrivateAddresses: true ${WHERE} allows it)`;
  if (!problem.includes('plain http')) return problem;
  const isLocal = remoteUrlProblem(url, { allowPrivateAddresses: true, allowHttp: 'loopback' }) === undefined;
  return isLocal
    ? `${problem} (allowPrivateAddresses: true ${WHERE} allows it on this machine)`
    : `${problem} (insecureAllowHTTP: true ${WHERE} allows it, for development)`;
}

/** Not in `oidcConfig` or `oauth2Config`, where the refused URL is. */
const WHERE = 'beside the name of the provider';

/** Host with its port, unless it is that of the scheme. */
function hostOf(url: string): string {
  return URL.parse(url)?.host ?? '';
}
