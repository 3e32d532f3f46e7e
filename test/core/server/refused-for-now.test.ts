import { expect, it } from 'vitest';
import { openEndpoint, openSession, postModern } from '../../support/open-endpoint.ts';

it('a call that is refused for now says in both eras when to send it again', async () => {
  await using open = await openEndpoint();
  const session = await openSession(open.url);
  open.service.answer = async () => ({
    refusal: { refused: true, status: 503, reason: 'ask again', retryAfterMs: 4_200 },
  });
  const asked = { name: 'echo', arguments: {} };
  for (const reply of [await postModern(open.url, 'tools/call', asked), await session.request('tools/call', asked)]) {
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '5']);
    expect(reply.json.error).toEqual({ code: 503, message: 'ask again', data: { retryAfterSeconds: 5 } });
  }
});
