import { readFile } from 'node:fs/promises';
import type { PageView } from '@toolmgr/plugins/kit/operations';
import type { FastifyInstance } from 'fastify';
import { loadPage, PAGE_HEADERS, type PageOffer, type ServedPage } from '../../http/page/served-page.ts';

/**
 * Serves the page at `/`, `/assets/*` and `/page.json`, and the modules of views of plugins. In a checkout the first request builds it.
 */
export function pageRoutes(views: readonly PageView[]): (app: FastifyInstance) => void {
  const modules = new Map(
    views.flatMap(({ name, module }) => (module === undefined ? [] : [[modulePath(name), module]])),
  );
  const offer = offerOf(views);
  return (app) => {
    for (const url of ['/', '/page.json', '/assets/*']) {
      app.route({
        method: ['GET', 'HEAD'],
        url,
        config: { open: true },
        handler: async (request, reply) => {
          const page: ServedPage = await loadPage(offer);
          const answer = page.answer(request.url.split('?', 1)[0] ?? '', request.headers);
          if (answer === undefined) return reply.callNotFound();
          return reply
            .code(answer.status)
            .headers(answer.headers)
            .send(request.method === 'HEAD' ? undefined : answer.body);
        },
      });
    }
    for (const [url, module] of modules) {
      app.route({
        method: 'GET',
        url,
        config: { open: true }, // as the page, it holds no data of the user
        handler: async (_, reply) =>
          reply
            .headers({ ...PAGE_HEADERS, 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-cache' })
            .send(await readFile(module)),
      });
    }
  };
}

function offerOf(views: readonly PageView[]): PageOffer {
  const added = views.flatMap(({ name, title, module }) =>
    module === undefined ? [] : [[name, { title, module: modulePath(name) }] as const],
  );
  return {
    views: views.map(({ name }) => name),
    ...(added.length === 0 ? {} : { added: Object.fromEntries(added) }),
    signIn: 'token',
    readOnly: false,
  };
}

function modulePath(name: string): string {
  return `/views/${name}.js`;
}
