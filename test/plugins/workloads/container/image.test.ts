import { describe, expect, it } from 'vitest';
import type { Engine } from '../../../../plugins/workloads/container/engine.ts';
import { ensureImage } from '../../../../plugins/workloads/container/image.ts';

/** An engine without images, whose pull fails with this message. */
function engineThatPulls(message: string): Engine {
  const inspect = () => Promise.reject(Object.assign(new Error('absent'), { statusCode: 404 }));
  const api = { getImage: () => ({ inspect }), pull: () => Promise.reject(new Error(message)) };
  const owner = async () => ({ id: 'o', place: 'ada@host:/state' });
  return { kind: 'docker', socketPath: '/x', version: '1', api: api as unknown as Engine['api'], env: {}, owner };
}

const pull = (message: string) =>
  ensureImage(engineThatPulls(message), 'org/server:1', AbortSignal.timeout(5_000)).then(
    () => 'pulled',
    (cause: Error) => cause.message,
  );

describe('an image that cannot be pulled', () => {
  it('is explained with the words of the engine and with a way that works without a network', async () => {
    const said = 'Get "https://registry.example/v2/": dial tcp: lookup registry.example: no such host';
    expect(await pull(`(HTTP code 500) server error - ${said} `)).toBe(
      `there is no image org/server:1 here, and it could not be pulled: ${said} (the engine does not reach the registry of ` +
        'the image; without a network, load the image from a file: docker load -i FILE)',
    );
  });

  it('may need a login, which the message says', async () => {
    expect(await pull('(HTTP code 404) unexpected - pull access denied for org/server')).toMatch(
      /pulled: pull access denied for org\/server \(there is no such image, or it needs a login/,
    );
  });

  it('has no advice for other reasons', async () => {
    expect(await pull('no space left on device')).toMatch(/could not be pulled: no space left on device$/);
  });
});
