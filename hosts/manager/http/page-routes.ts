import type { FastifyInstance } from 'fastify';
import { loadPage, type PageOffer, type ServedPage } from '../../http/page/served-page.ts';

/** Serves the page at `/`, `/assets/*` and `/page.json`. In a checkout the first request builds it. */
export function pageRoutes(offer: PageOffer): (app: FastifyInstance) => void {
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
  };
}
