import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSigner, signatureOf } from '@toolmgr/plugins/kit/secrets';
import { hmacSecretOf } from '@toolmgr/plugins/kit/settings';
import { describe, expect, it } from 'vitest';
import { pluginCore } from '../../../support/plugin-core.ts';
import { proves } from '../../../support/proves.ts';
import { temporaryFolderOfFile } from '../../../support/temporary-folder.ts';
import { type WebhookRequest, webhookServer } from '../../../support/webhook-server.ts';
import { hook, hooked } from './support.ts';

const SECRET = 'a shared secret';
const folder = temporaryFolderOfFile('webhooks');

/** A receiver as the documentation describes it. */
function receiver(secret: () => string, now: () => number) {
  const known = new Set<string>();
  return ({ headers, body, payload }: Pick<WebhookRequest, 'headers' | 'body' | 'payload'>): string => {
    const seconds = String(headers['x-toolmgr-timestamp']);
    const expected = `sha256=${createHmac('sha256', secret()).update(`${seconds}.`).update(body).digest('hex')}`;
    const given = Buffer.from(String(headers['x-toolmgr-signature']));
    if (given.length !== expected.length || !timingSafeEqual(given, Buffer.from(expected))) return 'wrong signature';
    if (!(Math.abs(now() / 1000 - Number(seconds)) <= 300)) return 'too old';
    if (known.has(payload.uid)) return 'repeated';
    known.add(payload.uid);
    return 'good';
  };
}

describe('a signature', () => {
  proves('choice.webhooks.signature', 'is the one that openssl computes', () => {
    // printf '1700000000.{"version":"v0.1.0"}' | openssl dgst -sha256 -hmac 'a shared secret'
    const vector = 'sha256=362691a4d3176b33f4fcca34ee63c53dab43b6dd65f47de8cf093d163451a942';
    const key = createSecretKey(Buffer.from(SECRET));
    expect(signatureOf(key, '1700000000', Buffer.from('{"version":"v0.1.0"}'))).toBe(vector);
  });

  proves('choice.webhooks.signature', 'uses the content of a file as it is now, or a named secret', async () => {
    const file = join(folder, 'secret');
    await writeFile(file, `${SECRET}\n`);
    const verdicts: string[] = [];
    let secret = SECRET;
    const check = receiver(() => secret, Date.now);
    await using server = await webhookServer((request) => {
      verdicts.push(check(request));
      return { allowed: verdicts.at(-1) === 'good' };
    });
    await using kit = await hooked({ validating: [hook(server, { hmac_secret_ref: file })] });
    const client = await kit.client();
    await client.callTool('echo', {});
    await writeFile(file, 'another one');
    secret = 'another one';
    await client.callTool('echo', {});
    await writeFile(file, '');
    expect((await client.request('tools/call', { name: 'echo' })).status).toBe(403);
    expect(verdicts).toEqual(['good', 'good']);

    const sign = await createSigner(pluginCore({ HOOK: SECRET }).slots, hmacSecretOf('HOOK,target=hmac'), 'here');
    const headers = await sign?.(Buffer.from('{"version":"v0.1.0"}'), 1_700_000_000_999);
    expect(headers).toEqual({
      'x-toolmgr-timestamp': '1700000000',
      'x-toolmgr-signature': expect.stringContaining('362691a4d3176b33'),
    });
  });

  proves('choice.webhooks.replay', 'and the time let a receiver refuse repeated and changed requests', async () => {
    await using server = await webhookServer(() => ({ allowed: true }));
    const file = join(folder, 'replayed');
    await writeFile(file, SECRET);
    await using kit = await hooked({ validating: [hook(server, { hmac_secret_ref: file })] });
    await (await kit.client()).callTool('echo', { n: 1 });
    const [request] = server.requests;
    if (request === undefined) throw new Error('no request');
    let nowMs = Date.now();
    const check = receiver(
      () => SECRET,
      () => nowMs,
    );
    expect(check(request)).toBe('good');
    expect(check(request)).toBe('repeated');
    const changed = Buffer.from(request.body.toString().replace('"n":1', '"n":2'));
    expect(check({ ...request, body: changed })).toBe('wrong signature');
    const later = { ...request.headers, 'x-toolmgr-timestamp': String(Math.floor(nowMs / 1000) + 1) };
    expect(check({ ...request, headers: later })).toBe('wrong signature');
    nowMs += 301_000;
    expect(
      receiver(
        () => SECRET,
        () => nowMs,
      )(request),
    ).toBe('too old');
  });

  it('needs a secret at the start', async () => {
    const { slots } = pluginCore({});
    await expect(createSigner(slots, { name: 'MISSING' }, 'mutating[0].hmac_secret_ref')).rejects.toThrow(
      'mutating[0].hmac_secret_ref: the environment variable MISSING is not set',
    );
    await expect(createSigner(slots, { file: join(folder, 'none') }, 'there')).rejects.toThrow(
      /there: .*none cannot be read/,
    );
  });
});
