import { createGateway } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, onTestFinished } from 'vitest';
import { type Got, httpServer, legacyAnswers, modernAnswers } from '../../core/backend/support.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const SECRET = 'Bearer of-the-gateway';

/** A gateway whose only backend gets a fixed credential. */
async function gatewayTo(url: string, transport: 'sse' | 'streamable-http') {
  const options = { headerName: 'Authorization', headerValue: SECRET };
  const gateway = await createGateway(
    {
      plugins: [
        { use: 'incoming-auth/anonymous' },
        { use: 'outgoing-auth/header-injection' },
        { use: 'backend-sources/static', with: { backends: [{ name: 'far', url, transport }] } },
      ],
      outgoingAuth: { default: { type: 'header_injection', options } },
    },
    { catalogue, log: SILENT },
  );
  onTestFinished(() => gateway.stop());
  await gateway.settled();
  return gateway;
}

describe('a backend that redirects to another host', () => {
  for (const status of [301, 302, 303, 307, 308]) {
    proves('choice.outgoing.redirects-stay', `by ${status} gets no request, and no credential, there`, async () => {
      const elsewhere = await httpServer(modernAnswers());
      const away = ({ response }: Got): void => void response.writeHead(status, { location: elsewhere.url }).end();
      const far = await httpServer(away);
      for (const transport of ['streamable-http', 'sse'] as const) {
        const gateway = await gatewayTo(far.url, transport);
        expect(gateway.backends()).toMatchObject([{ status: 'unavailable' }]);
      }
      expect(far.all.length).toBeGreaterThan(0);
      expect(far.all.every(({ headers }) => headers.authorization === SECRET)).toBe(true);
      expect(elsewhere.all).toHaveLength(0);
    });
  }

  proves('choice.outgoing.redirects-stay', 'with the stream of a session or its end, neither', async () => {
    const elsewhere = await httpServer(legacyAnswers());
    const far = await httpServer(
      legacyAnswers({
        before: ({ method, response }) => {
          if (method === 'POST') return false;
          response.writeHead(307, { location: elsewhere.url }).end();
          return true;
        },
      }),
    );
    const gateway = await gatewayTo(far.url, 'streamable-http');
    expect(await gateway.perform({ name: 'echo' })).toHaveProperty('result');
    await until(() => far.all.some(({ method }) => method === 'GET'));
    await gateway.stop();
    expect(far.all.some(({ method }) => method === 'DELETE')).toBe(true);
    expect(elsewhere.all).toHaveLength(0);
  });

  proves('choice.outgoing.redirects-stay', 'within its own origin is followed', async () => {
    const answers = modernAnswers();
    const far = await httpServer((got) => {
      if (got.path === '/mcp/') return answers(got);
      got.response.writeHead(308, { location: '/mcp/' }).end();
    });
    const gateway = await gatewayTo(far.url, 'streamable-http');
    expect(await gateway.perform({ name: 'echo' })).toHaveProperty('result');
    expect(far.all.every(({ headers }) => headers.authorization === SECRET)).toBe(true);
  });
});
