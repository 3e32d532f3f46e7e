import { loadPage, type PageOffer, type ServedPage } from '../manager/page/served-page.ts';
import { endpointView } from './endpoint-view.ts';
import type { HostRoute } from './mount.ts';
import type { PageAccess } from './page-access.ts';
import type { CallFeed } from './recent-calls/feed.ts';
import { recentCallRoutes } from './recent-calls/routes.ts';

/** What the page of one endpoint shows. */
export interface GatewayPage {
  /** The current gateway. */
  gateway(): Parameters<typeof endpointView>[0];
  readonly feed: CallFeed;
  /** Path of the MCP endpoint. */
  readonly mcpPath: string;
  /** Who may read what the page shows; the files of the page itself are public. */
  readonly access?: () => PageAccess | undefined;
}

/** The page of one endpoint, read-only: its tools, calls, and what clients see and why. */
export function gatewayPageRoutes({ gateway, feed, mcpPath, access }: GatewayPage): readonly HostRoute[] {
  const guard = access === undefined ? {} : { access };
  const pages = new Map<PageOffer['signIn'], Promise<ServedPage>>();
  const pageFor = (withToken: boolean): Promise<ServedPage> => {
    const signIn = withToken ? 'token' : 'none';
    const page = pages.get(signIn) ?? loadPage(offerOf(signIn, mcpPath));
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
    file('/'),
    file('/page.json'),
    file('/assets/', true),
    { path: VIEW_PATH, ...guard, answer: () => ({ status: 200, body: endpointView(gateway(), mcpPath) }) },
    ...recentCallRoutes(feed, access),
  ];
}

const VIEW_PATH = '/api/endpoint';

function needsToken(access: PageAccess | undefined): boolean {
  return access !== undefined && access !== 'elsewhere' && access.tokenDigest !== undefined;
}

function offerOf(signIn: PageOffer['signIn'], mcp: string): PageOffer {
  return {
    views: ['endpoint', 'playground', 'calls'],
    signIn,
    readOnly: true,
    endpoint: { view: VIEW_PATH, calls: '/api/calls', mcp },
  };
}
