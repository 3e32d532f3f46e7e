import { GatewayFault, type Limits, type SecretSource } from '@toolmgr/core';
import { readSecretFrom } from '@toolmgr/plugins';
import { isLoopbackHost, LOOPBACK_NAMES, refuseTakenPort, type Served, serveGateway } from '../http/listen.ts';
import type { HostRoute } from '../http/mount.ts';
import { type PageAccess, pageAccess } from '../http/page-access.ts';
import { STATUS_PAGES_HOST, type StatusPagesConfig } from './status-pages-schema.ts';

/** What the pages are made of. */
export interface StatusPagesOptions {
  /** The pages as `access` lets them be read. */
  pages(access: () => PageAccess | undefined): readonly HostRoute[];
  readonly limits: Limits;
  /** Where the token is read. */
  readonly secrets: SecretSource;
}

/** Who reaches the pages that name backends, and where. Disposed of, their own listener is closed. */
export interface StatusPages extends AsyncDisposable {
  /** At the port of the endpoint; `undefined` while the file guards nothing. */
  access(): PageAccess | undefined;
  /** A sentence for the log; `undefined` while the file guards nothing. */
  told(): string | undefined;
  /**
   * Gets ready for what the file says now, without changing anything yet.
   * @throws GatewayFault PLAN_INVALID, SECRET_MISSING or LISTEN_FAILED naming what is unavailable
   */
  prepare(section: StatusPagesConfig | undefined): Promise<PreparedPages>;
}

/** A change that is ready: exactly one of the two is called. */
export interface PreparedPages {
  take(): void;
  drop(): Promise<void>;
}

/**
 * Looks whether the pages can be had as the file says, before anything is started for them.
 * @throws GatewayFault PLAN_INVALID, SECRET_MISSING or LISTEN_FAILED naming what is unavailable
 */
export async function checkStatusPages(section: StatusPagesConfig | undefined, secrets: SecretSource): Promise<void> {
  if (section === undefined) return;
  await tokenOf(section, secrets);
  if (section.port === undefined) return;
  await refuseTakenPort({ host: section.host ?? STATUS_PAGES_HOST, port: section.port, settings: SETTINGS });
}

/** Makes the pages; they are unguarded until something prepared is taken. */
export function createStatusPages({ pages, limits, secrets }: StatusPagesOptions): StatusPages {
  let section: StatusPagesConfig | undefined;
  let atMain: PageAccess | undefined;
  let own: OwnListener | undefined;

  const open = async (host: string, port: number, access: PageAccess): Promise<OwnListener> => {
    const reader = { access };
    const served = await serveGateway(NOTHING_ELSE, {
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
    told() {
      if (section === undefined) return undefined;
      const where = own === undefined ? 'at the port of the endpoint' : `at ${own.served.url}`;
      return `the status pages are ${where}${section.tokenEnv === undefined ? '' : `, for who brings the token of ${section.tokenEnv}`}`;
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
        drop: async () => await opened?.served.close(),
      };
    },
    [Symbol.asyncDispose]: async () => await own?.served.close(),
  };
}

interface OwnListener {
  readonly served: Served;
  /** Its routes ask here: the token may change while the listener stays. */
  readonly reader: { access: PageAccess };
  readonly host: string;
  readonly port: number;
}

/** @throws GatewayFault SECRET_MISSING or PLAN_INVALID with the name of the variable, never its value */
async function tokenOf({ tokenEnv }: StatusPagesConfig, secrets: SecretSource): Promise<string | undefined> {
  if (tokenEnv === undefined) return undefined;
  const token = (await readSecretFrom(secrets, tokenEnv, TOKEN)).reveal();
  if (SENDABLE.test(token)) return token;
  throw new GatewayFault(
    'PLAN_INVALID',
    `${TOKEN}: the environment variable ${tokenEnv} holds no bearer token, expected letters, digits and -._~+/ with = at the end`,
  );
}

const TOKEN = 'statusPages.tokenEnv';
const SENDABLE = /^[A-Za-z0-9\-._~+/]+=*$/; // RFC 6750 §2.1 b64token
const SETTINGS = { host: 'statusPages.host:', port: 'statusPages.port:' };

/** What is no page is not there. */
const NOTHING_ELSE: Parameters<typeof serveGateway>[0] = {
  handle(_request, response) {
    response.writeHead(404, { 'content-type': 'application/problem+json', 'cache-control': 'no-store' });
    response.end(NOT_FOUND);
  },
};
const NOT_FOUND = JSON.stringify({
  ...{ type: 'about:blank', title: 'Not Found', status: 404 },
  detail: 'only the status pages are served here',
});
