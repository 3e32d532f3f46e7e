import { describe, expect, it } from 'vitest';
import { text } from '../../support/fake-gateway.ts';
import { openEndpoint, openSession, post, postModern } from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

describe('an endpoint that stops', () => {
  proves('choice.http.graceful-shutdown', 'lets running calls end, and takes no new ones', async () => {
    const open = await openEndpoint({ limits: { stopMs: 10_000 } });
    let finish = (): void => {};
    open.service.tools.set(
      'slow',
      () =>
        new Promise((resolve) => {
          finish = () => resolve(text('in time'));
        }),
    );
    const session = await openSession(open.url);
    const get = await session.get();
    const running = session.request('tools/call', { name: 'slow' });
    await until(() => open.service.seen.length === 1);
    const stopped = open.endpoint.stop();
    expect(await get.next()).toBe(undefined);
    const late = await postModern(open.url, 'tools/list');
    expect([late.status, late.json.code]).toEqual([503, 'GATEWAY_STOPPING']);
    finish();
    expect((await running).text).toContain('in time');
    await stopped;
    expect(open.ended.map(({ reason }) => reason)).toEqual(['shutdown']);
    expect(open.service.released).toEqual([`session:${session.id}`]);
    expect(open.endpoint.stop()).toBe(open.endpoint.stop());
    await open[Symbol.asyncDispose]();
  });

  it('cancels what does not end in its time', async () => {
    const open = await openEndpoint({ limits: { stopMs: 50 } });
    open.service.tools.set('stuck', () => new Promise(() => {}));
    const session = await openSession(open.url);
    const running = session.request('tools/call', { name: 'stuck' });
    await until(() => open.service.seen.length === 1);
    await open.endpoint.stop();
    expect(open.service.seen[0]?.cancel.aborted).toBe(true);
    const reply = await running;
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1']);
    expect(reply.json).toMatchObject({ id: expect.any(Number), error: { code: -32603 } });
    await open[Symbol.asyncDispose]();
  });

  it('gets no more events of the gateway', async () => {
    const open = await openEndpoint();
    const session = await openSession(open.url);
    await open.endpoint.stop();
    open.service.changeLists({ capabilityClass: '', kinds: ['tools'] });
    expect((await post(open.url, {}, session.headers)).status).toBe(503);
    await open[Symbol.asyncDispose]();
  });
});
