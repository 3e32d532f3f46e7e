import { endpointView } from './endpoint-view.ts';
import type { HostRoute } from './mount.ts';
import type { PageOffer, ServedPage } from './page/served-page.ts';
import type { PageAccess } from './page-access.ts';
import type { CallFeed } from './recent-calls/feed.ts';
import { recentCallRoutes } from './recent-calls/routes.ts';
import { acceptsHtml, startText } from './start-text.ts';

/** What the page of one endpoint shows. */
export interface GatewayPage {
  /** The current gateway. */
  gateway(): Parameters<typeof endpointView>[0];
  /** The calls; without it the page shows none. */
  readonly feed?: CallFeed | undefined;
  /** Path of the MCP endpoint. */
  readonly mcpPath: string;
  /** Strategy of the credentials of a backend; default: as the gateway names it. */
  readonly authTypeOf?: ((backend: string) => string) | undefined;
  /** Who may read what the page shows; the files of the page itself are public. */
  readonly access?: () => PageAccess | undefined;
}

/**
 * The page of one endpoint, read-only: its tools, calls, and what clients see and why. A client that does not accept HTML gets a few
 * lines of text at `/`.
 */
export function gatewayPageRoutes({ gateway, feed, mcpPath, authTypeOf, access }: GatewayPage): readonly HostRoute[] {
  const guard = access === undefined ? {} : { access };
  const pages = new Map<PageOffer['signIn'], Promise<ServedPage>>();
  const pageFor = (withToken: boolean): Promise<ServedPage> => {
    const signIn = withToken ? 'token' : 'none';
    const page = pages.get(signIn) ?? load(offerOf(signIn, mcpPath, feed !== undefined));
    pages.set(signIn, page);
    page.catch(() => pages.delete(signIn));
    return page;
  };
  const file = (path: string, isPrefix = false): HostRoute => ({
    path,
    ...(isPrefix ? { isPrefix } : {}),
    // a page that another listener serves is not served here
    ...(access === undefined ? {} : { access: () => (access() === 'elsewhere' ? 'elsewhere' : undefined) }),
    async answer(_, request) {
      const page = await pageFor(needsToken(access?.()));
      const found = page.answer(request.path, request.headers);
      if (found === undefined) return { status: 404, body: 'not found\n', type: 'text/plain' };
      const { 'content-type': type = 'text/plain', 'content-length': _length, ...headers } = found.headers;
      return { status: found.status, body: found.body ?? '', type, headers };
    },
  });
  return [
    startRoute(file('/'), { gateway, mcpPath, access }),
    file('/page.json'),
    file('/assets/', true),
    { path: VIEW_PATH, ...guard, answer: () => ({ status: 200, body: endpointView(gateway(), mcpPath, authTypeOf) }) },
    ...(feed === undefined ? [] : recentCallRoutes(feed, access)),
  ];
}

/** The code of the page is loaded by its first request. */
async function load(offer: PageOffer): Promise<ServedPage> {
  return (await import('./page/served-page.ts')).loadPage(offer);
}

/** `/`: the page for browsers, text for others. */
function startRoute(page: HostRoute, { gateway, mcpPath, access }: Omit<GatewayPage, 'feed'>): HostRoute {
  return {
    ...page,
    answer(query, request) {
      if (acceptsHtml(request.headers)) return page.answer(query, request);
      const isOpen = !needsToken(access?.());
      return {
        status: 200,
        type: 'text/plain',
        body: startText(request.headers, mcpPath, isOpen ? gateway() : undefined),
      };
    },
  };
}

const VIEW_PATH = '/api/endpoint';

function needsToken(access: PageAccess | undefined): boolean {
  return access !== undefined && access !== 'elsewhere' && access.tokenDigest !== undefined;
}

function offerOf(signIn: PageOffer['signIn'], mcp: string, hasCalls: boolean): PageOffer {
  return {
    views: ['endpoint', 'playground', ...(hasCalls ? (['calls'] as const) : [])],
    signIn,
    readOnly: true,
    endpoint: { view: VIEW_PATH, calls: '/api/calls', mcp },
  };
}
