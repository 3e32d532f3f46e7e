import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Destination } from '../../../../../plugins/workloads/container/egress/destination.ts';
import { createEgressProxy } from '../../../../../plugins/workloads/container/egress/egress-proxy.ts';
import { quietNotes } from '../../../../../plugins/workloads/container/egress/refusal-notes.ts';

let proxyPort = 0;
let originPort = 0;
let asked: string[] = [];
let notes: string[] = [];
let decision: (host: string) => Destination;

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const origin = createServer((incoming, outgoing) => {
  const { method, url, headers } = incoming;
  let body = '';
  incoming.on('data', (part) => {
    body += part;
  });
  incoming.on('end', () => {
    outgoing.setHeader('Connection', 'X-Hop, close');
    outgoing.setHeader('X-Hop', '1');
    outgoing.end(JSON.stringify({ method, url, headers, body }));
  });
});
const proxy = createEgressProxy({
  decide: async (host, port) => {
    asked.push(`${host}:${port}`);
    return decision(host);
  },
  note: (line) => void notes.push(line),
});
const listener = createTcpServer({ allowHalfOpen: true }, (socket) => proxy.serve(socket));

beforeAll(async () => {
  await Promise.all([
    once(origin.listen(0, '127.0.0.1'), 'listening'),
    once(listener.listen(0, '127.0.0.1'), 'listening'),
  ]);
  [originPort, proxyPort] = [portOf(origin), portOf(listener)];
});
beforeEach(() => {
  [asked, notes] = [[], []];
  decision = () => ({ addresses: [{ address: '127.0.0.1', family: 4 }] });
});
afterAll(() => {
  proxy.close();
  listener.close();
  origin.close();
  origin.closeAllConnections();
});

/** Sends text to the proxy and gives everything that comes back. */
async function send(text: string, then?: string): Promise<string> {
  const socket = connect(proxyPort, '127.0.0.1');
  let got = '';
  socket.setEncoding('latin1').on('data', (part: string) => {
    if (got === '' && then !== undefined) socket.write(then);
    got += part;
  });
  socket.write(text);
  await once(socket, 'close');
  return got;
}

const get = (target: string, ...headers: string[]): Promise<string> =>
  send([`GET ${target} HTTP/1.1`, 'Host: other.example', 'Connection: close', ...headers, '', ''].join('\r\n'));

describe('the proxy of an isolated container', () => {
  it('forwards to the host of the target, whatever the Host header says, without headers of the connection', async () => {
    const answer = await get(`http://a.example:${originPort}/path?q=1`, 'Proxy-Authorization: Basic eA==', 'X-Own: 1');
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(answer).not.toContain('X-Hop');
    const seen = JSON.parse(answer.slice(answer.indexOf('{')));
    expect(seen).toMatchObject({
      method: 'GET',
      url: '/path?q=1',
      headers: { host: `a.example:${originPort}`, 'x-own': '1' },
    });
    expect(seen.headers).not.toHaveProperty('proxy-authorization');
    expect(asked).toEqual([`a.example:${originPort}`]);
  });

  it('forwards a body, with its length or in chunks', async () => {
    for (const headers of [{ 'content-length': 5 }, { 'transfer-encoding': 'chunked' }]) {
      const sent = request({
        port: proxyPort,
        method: 'POST',
        path: `http://a.example:${originPort}/`,
        headers,
        agent: false,
      });
      sent.end('hello');
      const [response] = await once(sent, 'response');
      let text = '';
      for await (const part of response) text += part;
      expect(JSON.parse(text)).toMatchObject({ method: 'POST', body: 'hello' });
    }
  });

  it('makes a tunnel', async () => {
    const inner = 'GET /inner HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n';
    const answer = await send(`CONNECT a.example:${originPort} HTTP/1.1\r\nHost: a.example\r\n\r\n`, inner);
    expect(answer).toMatch(/^HTTP\/1\.1 200 Connection Established\r\n\r\nHTTP\/1\.1 200 OK/);
    expect(answer).toContain('"url":"/inner"');
  });

  it('connects to the address that was checked, and does not resolve the name again', async () => {
    // no resolver knows this name
    expect(await get(`http://localhost.invalid:${originPort}/`)).toMatch(/^HTTP\/1\.1 200/);
  });

  it('says why a destination is refused, in the answer and in the log', async () => {
    decision = () => ({ refusal: 'it is secret' });
    const said = 'the connection to b.example:80 is not allowed: it is secret';
    expect(await get('http://b.example/')).toMatch(/^HTTP\/1\.1 403[\s\S]*it is secret/);
    expect(await send('CONNECT b.example:80 HTTP/1.1\r\nHost: b.example\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 403[\s\S]*it is secret/,
    );
    expect(notes).toEqual([`network isolation: ${said}`, `network isolation: ${said}`]);
    decision = () => ({ failure: 'no such name' });
    expect(await get('http://b.example/')).toMatch(/^HTTP\/1\.1 502[\s\S]*no such name/);
    expect(notes).toHaveLength(2);
  });

  it.each([
    'GET /relative',
    'GET https://a.example/',
    'GET http://user:pass@a.example/',
    'GET http://user@a.example/',
    'GET ftp://a.example/',
    'GET http://',
    'CONNECT a.example',
    'CONNECT user@a.example:443',
    'CONNECT a.example:0',
    'CONNECT a.example:99999',
    'CONNECT http://a.example:443/',
    'CONNECT a.example:443/path',
  ])('refuses %s and asks for no destination', async (line) => {
    expect(await send(`${line} HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400/);
    expect(asked).toEqual([]);
  });

  it('refuses a head that is too large, ambiguous or not HTTP', async () => {
    expect(await get('http://a.example/', `X-Long: ${'a'.repeat(20_000)}`)).toMatch(/^HTTP\/1\.1 400/);
    expect(await get('http://a.example/', 'Content-Length: 1', 'Transfer-Encoding: chunked')).toMatch(
      /^HTTP\/1\.1 400/,
    );
    expect(await send('\x16\x03\x01 hello\r\n\r\n')).toMatch(/^HTTP\/1\.1 400/);
    expect(asked).toEqual([]);
  });

  it('reads numbers as the addresses that they are', async () => {
    await get(`http://2130706433:${originPort}/`);
    await get(`http://0x7f.1:${originPort}/`);
    await send(`CONNECT 0177.0.0.1:${originPort} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, 'x\r\n\r\n');
    expect(new Set(asked)).toEqual(new Set([`127.0.0.1:${originPort}`]));
  });

  it('answers when nothing listens at the destination', async () => {
    expect(await get('http://a.example:1/')).toMatch(/^HTTP\/1\.1 502[\s\S]*cannot be reached/);
    expect(await send('CONNECT a.example:1 HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(/^HTTP\/1\.1 502/);
  });

  it('does not write the same refusal again and again', () => {
    const written: string[] = [];
    const note = quietNotes((line) => void written.push(line));
    for (const line of ['a', 'a', 'b', 'a']) note(line);
    expect(written).toEqual(['a', 'b']);
  });
});
