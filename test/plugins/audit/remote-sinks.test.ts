import { createHmac } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer as createHttp, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTls } from 'node:tls';
import { fakeServer } from '@toolmgr/core/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { auditConfig } from '../../../plugins/audit/config.ts';
import { type Audited, audited } from '../../support/audited.ts';
import { certificates } from '../../support/certificates.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';

const folder = temporaryFolderOfFile('audit-sinks');

const gateway = (config: object): Promise<Audited> => audited({ far: fakeServer().tool('t') }, { config });
const call = ({ kit }: Audited) => kit.gateway.perform({ name: 't' });
const port = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;

/** Messages with octet counting (RFC 6587 §3.4.1). */
function messagesIn(bytes: Buffer): string[] {
  const messages: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(' ', at);
    const end = space + 1 + Number(bytes.subarray(at, space).toString());
    messages.push(bytes.subarray(space + 1, end).toString());
    at = end;
  }
  return messages;
}

/** RFC 5424: the parts before the text, and the text. */
const MESSAGE = /^<(\d+)>1 (\S+) (\S+) (\S+) (\d+) (\S+) - (\{.*\})$/;

/** A syslog server over TCP or TLS. */
async function syslogServer(tls?: { readonly cert: string; readonly key: string }, at = 0) {
  let bytes = Buffer.alloc(0);
  const sockets = new Set<Socket>();
  const take = (socket: Socket): void => {
    sockets.add(socket);
    socket
      .on('error', () => {})
      .on('data', (piece) => {
        bytes = Buffer.concat([bytes, piece]);
      });
  };
  const server = tls === undefined ? createServer(take) : createTls(tls, take);
  await once(server.listen(at, '127.0.0.1'), 'listening');
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { port: port(server), messages: () => messagesIn(bytes), close };
}

describe('audit.syslog', () => {
  proves('ask.audit.sinks', 'sends every line of the file as a message of RFC 5424', async () => {
    const server = await syslogServer();
    onTestFinished(server.close);
    await using served = await gateway({ syslog: { address: `tcp://127.0.0.1:${server.port}`, facility: 16 } });
    await call(served);
    await until(() => server.messages().length > 0);
    const [line] = await served.lines();
    const [, priority, at, host, app, , id, text = ''] = MESSAGE.exec(server.messages()[0] ?? '') ?? [];
    expect({ priority, app, id }).toEqual({ priority: String(16 * 8 + 6), app: 'toolmgr', id: 'mcp_tool_call' });
    expect(at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(host).not.toBe('');
    expect(JSON.parse(text)).toEqual(line); // with the same audit_id
  });

  it('connects again after its server was away, and sends what waited', async () => {
    const server = await syslogServer();
    await using served = await gateway({ syslog: { address: `tcp://127.0.0.1:${server.port}` } });
    await call(served);
    await until(() => server.messages().length === 1);
    await server.close();
    await until(async () => {
      await call(served);
      return served.kit.logged.some((line) => /audit events cannot be written.*syslog/.test(line));
    });
    const { length } = await served.lines(2);
    const again = await syslogServer(undefined, server.port);
    onTestFinished(again.close);
    await call(served);
    await until(() => again.messages().length > 0 && again.messages().length >= length - 2);
  });

  it('sends over TLS to servers that its CA certified, and to no others', async () => {
    const { ca, cert, key } = certificates();
    const server = await syslogServer({ cert, key });
    onTestFinished(server.close);
    const caCertPath = join(folder, 'ca.pem');
    await writeFile(caCertPath, ca);
    const address = `tls://localhost:${server.port}`;
    await using served = await gateway({ syslog: { address, caCertPath } });
    await call(served);
    await until(() => server.messages().length > 0);
    await using other = await gateway({ syslog: { address } });
    await call(other);
    await until(() => other.kit.logged.some((line) => /audit events cannot be written/.test(line)));
    expect(server.messages()).toHaveLength(1);
  });

  it('sends datagrams over UDP, and cuts lines that are too long for one', async () => {
    const server = createSocket('udp4');
    const got: Buffer[] = [];
    server.on('message', (message) => got.push(message));
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    await using served = await gateway({
      ...{ syslog: { address: `udp://127.0.0.1:${port(server)}` } },
      ...{ includeRequestData: true, maxDataSize: 200_000 },
    });
    await call(served);
    await served.kit.gateway.perform({ name: 't', arguments: { text: 'x'.repeat(100_000) } });
    await until(() => got.length === 2);
    expect(String(got[0])).toMatch(MESSAGE);
    expect(got[1]).toHaveLength(60_000);
  });
});

/** A receiver of HTTP requests, which answers with each status in turn and then with 200. */
async function receiver(...statuses: readonly number[]) {
  const requests: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
  const left = [...statuses];
  const server = createHttp(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    requests.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(pieces).toString() });
    response.writeHead(left.shift() ?? 200).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${port(server)}`, requests };
}

describe('audit.webhook', () => {
  it('posts the lines, signed with their time, and repeats what was not taken', async () => {
    const { url, requests } = await receiver(500);
    const [hmac, token] = [join(folder, 'hmac'), join(folder, 'token')];
    await writeFile(hmac, 'hunter2');
    await writeFile(token, 'abc\n');
    const webhook = { url: `${url}/audit`, hmacSecretRef: { file: hmac }, tokenRef: { file: token } };
    await using served = await gateway({ webhook });
    await call(served);
    await until(() => requests.length === 2);
    const [first, second] = requests as [(typeof requests)[0], (typeof requests)[0]];
    expect(second.body).toBe(first.body);
    expect(
      second.body
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(await served.lines());
    const { authorization, ...headers } = second.headers;
    expect(authorization).toBe('Bearer abc');
    const expected = createHmac('sha256', 'hunter2').update(`${headers['x-toolmgr-timestamp']}.${second.body}`);
    expect(headers['x-toolmgr-signature']).toBe(`sha256=${expected.digest('hex')}`);
  });

  it('reports lines that are refused for good, and goes past them', async () => {
    const { url, requests } = await receiver(413);
    await using served = await gateway({ webhook: { url } });
    await call(served);
    await until(() => requests.length === 1);
    await call(served);
    await until(() => requests.length === 2);
    expect(requests[1]?.body.trim().split('\n')).toHaveLength(1);
    expect(served.kit.logged.some((line) => /audit events were refused.*webhook.*413/.test(line))).toBe(true);
  });

  it('that does not answer delays neither the file nor calls', async () => {
    const server = createServer(() => {}); // takes connections and says nothing
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());
    await using served = await gateway({
      webhook: { url: `http://127.0.0.1:${port(server)}` },
      ...{ onFailure: 'refuse' },
    });
    for (let count = 0; count < 3; count++) expect(await call(served)).toHaveProperty('result');
    expect(await served.lines(3)).toHaveLength(3);
    server.unref();
  });
});

describe('audit.otlp', () => {
  it('sends log records with the lines as their bodies', async () => {
    const { url, requests } = await receiver();
    await using served = await gateway({ otlp: { endpoint: `${url}/` }, component: 'team' });
    await call(served);
    await until(() => requests.length === 1);
    const [line] = await served.lines();
    const { path, headers, body } = requests[0] ?? {};
    expect({ path, type: headers?.['content-type'] }).toEqual({ path: '/v1/logs', type: 'application/json' });
    const [{ resource, scopeLogs }] = JSON.parse(body ?? '').resourceLogs;
    expect(resource.attributes).toEqual([{ key: 'service.name', value: { stringValue: 'team' } }]);
    const [record] = scopeLogs[0].logRecords;
    expect(record).toMatchObject({ severityNumber: 9, eventName: 'mcp_tool_call' });
    expect(new Date(Number(BigInt(record.timeUnixNano) / 1_000_000n)).toISOString()).toBe(
      JSON.parse(record.body.stringValue).logged_at,
    );
    expect(JSON.parse(record.body.stringValue)).toEqual(line);
  });
});

describe('the settings of remote sinks', () => {
  it.each([
    [{ syslog: { address: 'logs.example.com' } }, /expected udp:\/\/, tcp:\/\/ or tls:\/\//],
    [{ syslog: { address: 'tcp://ada:x@logs.example.com' } }, /expected udp/],
    [{ syslog: { address: 'tls://logs.example.com', appName: 'a b' } }, /printable ASCII/],
    [{ webhook: { url: 'https://ada:x@logs.example.com' } }, /without user name and password/],
    [{ otlp: { endpoint: 'collector:4318' } }, /expected a URL that starts with https/],
  ])('refuse %j', (given, problem) => {
    expect(() => auditConfig.parse(given)).toThrow(problem);
  });
});
