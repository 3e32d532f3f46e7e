/** No network once the server runs. */
export const NO_NETWORK = { network: { outbound: {} } };
/** Any host. */
export const ALL_HOSTS = { network: { outbound: { insecure_allow_all: true } } };

/** Only these hosts, by https. `.domain` includes subdomains. */
export const outboundTo = (...hosts: readonly string[]) => ({
  network: { outbound: { allow_host: hosts, allow_port: [443] } },
});
