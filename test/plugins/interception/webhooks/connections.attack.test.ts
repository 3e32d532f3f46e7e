import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { fieldPath } from '@toolmgr/core';
import { createRemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import { describe, expect, it } from 'vitest';
import { webhooksConfig } from '../../../../plugins/interception/webhooks/config.ts';
import { addressRules, webhookSettings } from '../../../../plugins/kit/settings/webhook-settings.ts';
import { certificates } from '../../../support/certificates.ts';
import { proves } from '../../../support/proves.ts';
import { temporaryFolderOfFile } from '../../../support/temporary-folder.ts';
import { allow, webhookServer } from '../../../support/webhook-server.ts';
import { hook, hooked, toolCalls } from './support.ts';

const folder = temporaryFolderOfFile('webhooks');

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

describe('a webhook that hangs', () => {
  proves(
    ['choice.webhooks.no-delay', 'choice.webhooks.answer-limits'],
    'delays its call by the timeout, and calls of others not at all',
    async () => {
      await using server = await webhookServer(({ payload }) =>
        payload.mcp_request.params.name === 'echo' ? undefined : { allowed: true },
      );
      for (const [policy, calls] of [
        ['fail', 0],
        ['ignore', 1],
      ] as const) {
        await using kit = await hooked({ validating: [hook(server, { timeout: '2s', failure_policy: policy })] });
        const client = await kit.client();
        const begun = performance.now();
        let isOver = false;
        const slow = client.request('tools/call', { name: 'echo', arguments: {} }).finally(() => {
          isOver = true;
        });
        await client.callTool('other');
        expect(isOver).toBe(false);
        const { status } = await slow;
        expect(status).toBe(policy === 'fail' ? 403 : 200);
        expect(performance.now() - begun).toBeLessThan(9_000); // without a timeout of its own: 10 s
        expect(toolCalls(kit.far).filter(({ name }) => name === 'echo')).toHaveLength(calls);
      }
    },
  );

  proves('choice.webhooks.answer-limits', 'after the first byte, or sends a body without end, is cut', async () => {
    const answers: readonly ((response: ServerResponse) => void)[] = [
      (response) => void response.writeHead(200).write('{"allowed":true'),
      (response) => {
        const write = (): void => void (response.destroyed || response.write('x'.repeat(65_536), write));
        response.writeHead(200);
        write();
      },
    ];
    for (const answer of answers) {
      await using server = await webhookServer((_, response) => void answer(response));
      await using kit = await hooked({ validating: [hook(server, { timeout: '1s' })] });
      const { status } = await (await kit.client()).request('tools/call', { name: 'echo' });
      expect(status).toBe(403);
    }
  });

  proves('choice.webhooks.no-delay', 'gets a bounded number of requests; the others fail at once', async () => {
    let [open, most] = [0, 0];
    let hasOneEnded = false; // the timeout of the first has passed
    await using server = await webhookServer((_, response) => {
      most = Math.max(most, ++open);
      response.on('close', () => {
        open--;
        hasOneEnded = true;
      });
      return undefined;
    });
    await using kit = await hooked({ validating: [hook(server, { timeout: '4s' })] });
    const client = await kit.client();
    const atOnce: number[] = [];
    const calls = Array.from({ length: 300 }, async () => {
      const { status } = await client.request('tools/call', { name: 'echo' });
      if (!hasOneEnded) atOnce.push(status);
      return status;
    });
    expect(new Set(await Promise.all(calls))).toEqual(new Set([403]));
    expect(atOnce.length).toBeGreaterThanOrEqual(300 - 256);
    expect(most).toBe(32);
  });
});

describe('connections', () => {
  it('are kept: many calls use few of them', async () => {
    const ports = new Set<unknown>();
    await using server = await webhookServer((_, response) => {
      ports.add(response.req.socket.remotePort);
      return { allowed: true };
    });
    await using kit = await hooked({ validating: [hook(server)], mutating: [hook(server)] });
    const client = await kit.client();
    for (let call = 0; call < 10; call++) await client.callTool('echo', {});
    expect(server.requests).toHaveLength(20);
    expect(ports.size).toBe(2); // one for each webhook
  });

  proves('choice.webhooks.tls', 'trust the CA bundle only, unless verification is off', async () => {
    const { ca, cert, key } = certificates();
    await using server = await webhookServer(allow, { cert, key });
    const bundle = await file('ca.pem', ca);
    const outcomes = [undefined, { ca_bundle_path: bundle }, { insecure_skip_verify: true }].map(async (tls) => {
      await using kit = await hooked({
        validating: [{ name: 'hook', url: server.url, ...(tls === undefined ? {} : { tls_config: tls }) }],
      });
      return (await (await kit.client()).request('tools/call', { name: 'echo' })).status;
    });
    expect(await Promise.all(outcomes)).toEqual([403, 200, 200]);
  });

  proves('choice.webhooks.tls', 'present the certificate of the client', async () => {
    const { ca, cert, key } = certificates();
    const peers: string[] = [];
    const server = createTlsServer(
      { cert, key, ca, requestCert: true, rejectUnauthorized: true },
      (request, response) => {
        peers.push((request.socket as TLSSocket).getPeerCertificate().subject.CN as string);
        request.resume().on('end', () => response.writeHead(422).end());
      },
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
    const [bundle, certFile, keyFile] = [await file('a.pem', ca), await file('c.pem', cert), await file('k.pem', key)];
    const tls = { ca_bundle_path: bundle, client_cert_path: certFile, client_key_path: keyFile };
    await using kit = await hooked({ mutating: [{ name: 'hook', url, tls_config: tls }] });
    expect((await (await kit.client()).request('tools/call', { name: 'echo' })).status).toBe(422);
    await using without = await hooked({ mutating: [{ name: 'hook', url, tls_config: { ca_bundle_path: bundle } }] });
    expect((await (await without.client()).request('tools/call', { name: 'echo' })).status).toBe(500);
    expect(peers).toEqual(['localhost']);
    server.closeAllConnections();
    server.close();
  });

  proves(
    'choice.webhooks.addresses',
    'go to loopback where the URL names it, and to private addresses if allowed',
    async () => {
      const allowed = (url: string, more = {}) =>
        webhookSettings.safeParse({ name: 'a', url, tls_config: { insecure_skip_verify: true }, ...more }).success;
      expect(allowed('http://127.0.0.1:1/')).toBe(true);
      expect(allowed('http://[::1]:1/')).toBe(true);
      expect(allowed('http://localhost:1/')).toBe(true);
      expect(allowed('http://10.0.0.1/')).toBe(false);
      expect(allowed('http://169.254.169.254/')).toBe(false);
      expect(allowed('http://0.0.0.0/')).toBe(false);
      expect(allowed('http://2130706433/')).toBe(true); // 127.0.0.1
      expect(allowed('http://10.0.0.1/', { allow_private_ip: true })).toBe(true);
      const rebound = (url: string, address: string) =>
        createRemoteHttp({
          ...addressRules({ url, tls_config: { insecure_skip_verify: true } }),
          lookup: (_host, _options, found) => found(null, [{ address, family: 4 }] as never, 4),
        }).send(url);
      await expect(rebound('http://hooks.test:1/', '127.0.0.1')).rejects.toThrow('leads to a loopback address');
      await expect(rebound('http://localhost:1/', '10.0.0.1')).rejects.toThrow('leads to a private address');
    },
  );
});

describe('the configuration', () => {
  const problems = (config: unknown): string[] =>
    (webhooksConfig.safeParse(config).error?.issues ?? []).map(({ path, message }) => `${fieldPath(path)}: ${message}`);
  const good = { name: 'a', url: 'https://hooks.example.com/' };

  proves('choice.webhooks.config', 'is refused with the path of what is wrong', () => {
    expect(problems({ validating: [good] })).toEqual([]);
    expect(webhooksConfig.parse({ validating: [good] }).validating[0]).toMatchObject({
      timeout: 10e9,
      failure_policy: 'fail',
    });
    expect(webhooksConfig.parse({ mutating: [{ ...good, timeout: 5e9 }] }).mutating[0]?.timeout).toBe(5e9);
    const cases: readonly (readonly [unknown, RegExp])[] = [
      [{}, /at least one webhook/],
      [{ mutating: [] }, /at least one webhook/],
      [{ mutating: [good, good] }, /^mutating\[1\]\.name: duplicate name a$/],
      [{ mutating: [{ ...good, timeout: '500ms' }] }, /^mutating\[0\]\.timeout: .*from 1s to 30s/],
      [{ mutating: [{ ...good, timeout: '31s' }] }, /from 1s to 30s/],
      [{ mutating: [{ ...good, timeout: 5 }] }, /from 1s to 30s/],
      [
        { mutating: [{ ...good, url: 'http://hooks.example.com/' }] },
        /^mutating\[0\]\.url: .*insecure_skip_verify allows it/,
      ],
      [{ mutating: [{ ...good, url: 'https://10.1.2.3/' }] }, /^mutating\[0\]\.url: .*allow_private_ip allows it/],
      [{ mutating: [{ ...good, url: 'https://a:b@hooks.example.com/' }] }, /without user name/],
      [{ mutating: [{ ...good, url: 'file:///etc/passwd' }] }, /^mutating\[0\]\.url/],
      [{ mutating: [{ ...good, tls_config: { client_cert_path: '/c' } }] }, /client_key_path together/],
      [{ mutating: [{ ...good, hmac_secret_ref: './secret' }] }, /^mutating\[0\]\.hmac_secret_ref: .*absolute path/],
      [{ mutating: [{ ...good, name: 'a b' }] }, /^mutating\[0\]\.name/],
    ];
    for (const [config, expected] of cases) expect(problems(config).join('\n')).toMatch(expected);
  });

  it('names certificates that cannot be read at the start', async () => {
    const missing = { ...good, tls_config: { ca_bundle_path: join(folder, 'none.pem') } };
    await expect(hooked({ validating: [missing] })).rejects.toThrow(/validating\[0\]\.tls_config\.ca_bundle_path/);
    const { ca } = certificates();
    const pem = await file('only.pem', ca);
    const half = { ...good, tls_config: { client_cert_path: pem, client_key_path: join(folder, 'none.key') } };
    await expect(hooked({ validating: [half] })).rejects.toThrow(/client_key_path: .* cannot be read/);
  });
});
