import { GatewayFault, type Plan, type SecretSource } from '@toolmgr/core';
import { readSecretFrom } from '@toolmgr/plugins/kit/secrets';
import { isLoopbackHost, LOOPBACK_NAMES, refuseTakenPort, type Served, serveGateway } from '../../http/listen.ts';
import type { HostRoute } from '../../http/mount.ts';
import { type PageAccess, pageAccess } from '../../http/page-access.ts';
import { STATUS_PAGES_HOST, type StatusPagesConfig } from '../status-pages-schema.ts';

/** Parameters of the status pages. */
export interface StatusPagesOptions {
  /** Creates the pages; `access` says who may read them. */
  pages(access: () => PageAccess | undefined): readonly HostRoute[];
  readonly limits: Plan['limits'];
  /** Where the token is read. */
  readonly secrets: SecretSource;
}

/** Access to the pages that name backends. Disposing closes their own listener. */
export interface StatusPages extends AsyncDisposable {
  /** Access at the port of the endpoint; `undefined` while the pages are public. */
  access(): PageAccess | undefined;
  /** A sentence for the log; `undefined` while the pages are public. */
  describe(): string | undefined;
  /**
   * Prepares a change without applying it.
   * @throws GatewayFault PLAN_INVALID, SECRET_MISSING or LISTEN_FAILED naming what is unavailable
   */
  prepare(section: StatusPagesConfig | undefined): Promise<PreparedPages>;
}

/** A prepared change. Exactly one of the two is called. */
export interface PreparedPages {
  take(): void;
  discard(): Promise<void>;
}

/**
 * Checks the section before anything is started for it.
 * @throws GatewayFault PLAN_INVALID, SECRET_MISSING or LISTEN_FAILED naming what is unavailable
 */
export async function checkStatusPages(section: StatusPagesConfig | undefined, secrets: SecretSource): Promise<void> {
  if (section === undefined) return;
  await tokenOf(section, secrets);
  if (section.port === undefined) return;
  await refuseTakenPort({ host: section.host ?? STATUS_PAGES_HOST, port: section.port, settings: SETTINGS });
}

/** Creates the pages; they are public until a prepared change is applied. */
export function createStatusPages({ pages, limits, secrets }: StatusPagesOptions): StatusPages {
  let section: StatusPagesConfig | undefined;
  let atMain: PageAccess | undefined;
  let own: OwnListener | undefined;

  const open = async (host: string, port: number, access: PageAccess): Promise<OwnListener> => {
    const reader = { access };
    const served = await serveGateway(NOT_FOUND_ONLY, {
      host,
      port,
      limits,
      routes: pages(() => reader.access),
      ...(isLoopbackHost(host) ? { allowedHosts: LOOPBACK_NAMES } : {}),
      settings: SETTINGS,
    });
    return { served, reader, host, port };
  };
  return {
    access: () => atMain,
    describe() {
      if (section === undefined) return undefined;
      const where = own === undefined ? 'at the port of the endpoint' : `at ${own.served.url}`;
      return `the status pages are ${where}${section.tokenEnv === undefined ? '' : `, with the token of ${section.tokenEnv}`}`;
    },
    async prepare(next) {
      const access = next && pageAccess(await tokenOf(next, secrets));
      const { port, host = STATUS_PAGES_HOST } = next ?? {};
      const stays = own !== undefined && own.port === port && own.host === host ? own : undefined;
      if (stays === undefined && own !== undefined && port !== 0 && own.port === port) {
        const why = `statusPages.host cannot change from ${own.host} to ${host} at the same port while the gateway runs; choose another port too, or restart it`;
        throw new GatewayFault('PLAN_INVALID', why);
      }
      const opened = stays === undefined && access && port !== undefined ? await open(host, port, access) : undefined;
      return {
        take() {
          if (stays === undefined) void own?.served.close();
          own = stays ?? opened;
          section = next;
          if (own !== undefined && access !== undefined) own.reader.access = access;
          atMain = own === undefined ? access : 'elsewhere';
        },
        discard: async () => await opened?.served.close(),
      };
    },
    [Symbol.asyncDispose]: async () => await own?.served.close(),
  };
}

interface OwnListener {
  readonly served: Served;
  /** Read by its routes for each request, because a reload may change the token. */
  readonly reader: { access: PageAccess };
  readonly host: string;
  readonly port: number;
}

/**
 * The token that readers of the pages need.
 * @throws GatewayFault SECRET_MISSING or PLAN_INVALID with the name of the variable, never its value
 */
export async function tokenOf({ tokenEnv }: StatusPagesConfig, secrets: SecretSource): Promise<string | undefined> {
  if (tokenEnv === undefined) return undefined;
  const token = (await readSecretFrom(secrets, tokenEnv, TOKEN)).reveal();
  if (B64_TOKEN.test(token)) return token;
  throw new GatewayFault(
    'PLAN_INVALID',
    `${TOKEN}: the environment variable ${tokenEnv} holds no bearer token, expected letters, digits and -._~+/ with = at the end`,
  );
}

const TOKEN = 'statusPages.tokenEnv';
const B64_TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/; // RFC 6750 §2.1 b64token
const SETTINGS = { host: 'statusPages.host:', port: 'statusPages.port:' };

/** Answers 404 to every other path. */
const NOT_FOUND_ONLY: Parameters<typeof serveGateway>[0] = {
  handle(_request, response) {
    response.writeHead(404, { 'content-type': 'application/problem+json', 'cache-control': 'no-store' });
    response.end(NOT_FOUND);
  },
};
const NOT_FOUND = JSON.stringify({
  ...{ type: 'about:blank', title: 'Not Found', status: 404 },
  detail: 'only the status pages are served here',
});
