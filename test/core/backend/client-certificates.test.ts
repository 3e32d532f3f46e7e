import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createPlainServer } from 'node:net';
import { join } from 'node:path';
import type { TlsOptions } from 'node:tls';
import type { Backend } from '@toolmgr/core';
import { describe, expect, onTestFinished } from 'vitest';
import { createUndiciClient } from '../../../core/http1/undici-client.ts';
import backendSource from '../../../plugins/backend-sources/static/index.ts';
import { certificates } from '../../support/certificates.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { legacyAnswers, managerWith } from './support.ts';

const server = certificates();
const client = certificates();

/** Files of a client certificate, in a folder of the test. */
function filesOf({ cert, key } = client) {
  const folder = temporaryFolder('mtls');
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  return {
    certPath: write('tls.crt', cert),
    keyPath: write('tls.key', key),
    caPath: write('ca.crt', server.ca),
    write,
  };
}

/** An MCP server over TLS. */
async function tlsServer(options: TlsOptions = { requestCert: true, rejectUnauthorized: true, ca: client.ca }) {
  const subjects: (string | undefined)[] = [];
  const respond = legacyAnswers();
  const https = createServer({ cert: server.cert, key: server.key, ...options }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const peer = (
        request.socket as unknown as { getPeerCertificate(): { subject?: { CN: string } } }
      ).getPeerCertificate();
      subjects.push(peer.subject?.CN);
      const body = Buffer.concat(chunks).toString();
      const { method = '', url: path = '', headers } = request;
      respond({ method, path, headers, body, response, message: body === '' ? undefined : JSON.parse(body) });
    });
  });
  https.listen(0, '127.0.0.1');
  await new Promise((resolve) => https.once('listening', resolve));
  onTestFinished(() => {
    https.closeAllConnections();
    https.close();
  });
  return { url: `https://127.0.0.1:${(https.address() as AddressInfo).port}/mcp`, subjects };
}

const backendAt = (url: string, more: Partial<Backend>): Backend => ({
  ...{ name: 'far', transport: 'streamable-http', type: 'entry', url },
  ...more,
});

async function messageOf(backend: Backend): Promise<string | undefined> {
  const { manager } = await managerWith([backend]);
  const [state] = manager.states();
  expect(state).toMatchObject({ status: 'unavailable', cause: { category: 'tls' } });
  return state?.cause?.message;
}

describe('a backend that demands a client certificate', () => {
  for (const [name, httpClient] of [
    ['its own client', undefined],
    ['undici', createUndiciClient],
  ] as const) {
    proves('choice.backend.client-certificate', `gets the configured one from ${name}`, async () => {
      const { url, subjects } = await tlsServer();
      const { certPath, keyPath, caPath } = filesOf();
      const backend = backendAt(url, { caBundlePath: caPath, clientCertificate: { certPath, keyPath } });
      const { manager } = await managerWith([backend], httpClient === undefined ? {} : { httpClient });
      expect(manager.states()[0]?.status).toBe('ready');
      expect(new Set(subjects)).toEqual(new Set(['localhost']));
    });
  }

  proves(
    'choice.backend.tls-named',
    'is named as such without one, with one of others, and with a wrong file',
    async () => {
      const { certPath, keyPath, caPath, write } = filesOf();
      const caBundlePath = caPath;
      const { url } = await tlsServer();
      expect(await messageOf(backendAt(url, { caBundlePath }))).toBe('backend "far" demands a client certificate');
      const older = await tlsServer({
        requestCert: true,
        rejectUnauthorized: true,
        ca: client.ca,
        maxVersion: 'TLSv1.2',
      });
      expect(await messageOf(backendAt(older.url, { caBundlePath }))).toContain('may demand a client certificate');
      const keyOfOther = { certPath, keyPath: write('other.key', server.key) };
      expect(await messageOf(backendAt(url, { caBundlePath, clientCertificate: keyOfOther }))).toContain(
        'has a client certificate that cannot be used',
      );
      const { manager } = await managerWith([
        backendAt(url, { caBundlePath, clientCertificate: { certPath, keyPath } }),
      ]);
      await until(() => manager.states()[0]?.status === 'ready');
    },
  );

  proves('choice.backend.client-certificate', 'needs https in the file', () => {
    const listed = { name: 'far', transport: 'streamable-http', clientCertificate: { certPath: 'a', keyPath: 'b' } };
    const read = (url: string) => backendSource.config?.safeParse({ backends: [{ ...listed, url }] });
    expect(read('https://far.test/mcp')?.success).toBe(true);
    expect(read('http://far.test/mcp')?.error?.message).toContain('clientCertificate needs a url');
  });
});

describe('a server that cannot agree on TLS', () => {
  proves(
    'choice.backend.tls-named',
    'is named by its reason: an old version, another name, no trust, no TLS',
    async () => {
      const { caPath: caBundlePath } = filesOf();
      const old = await tlsServer({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' });
      expect(await messageOf(backendAt(old.url, { caBundlePath }))).toContain('offers no TLS version');
      const plain = await tlsServer({});
      expect(await messageOf(backendAt(plain.url, {}))).toContain('presents a certificate that is not trusted');
      const notTls = createPlainServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
      notTls.listen(0, '127.0.0.1');
      await new Promise((resolve) => notTls.once('listening', resolve));
      onTestFinished(() => void notTls.close());
      const url = `https://127.0.0.1:${(notTls.address() as AddressInfo).port}/mcp`;
      expect(await messageOf(backendAt(url, { caBundlePath }))).toContain('does not speak TLS');
    },
  );
});
