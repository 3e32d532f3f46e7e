import { createSecretKey } from 'node:crypto';
import { type Core, isObject, type JsonObject, parsedJson, throttledLine } from '@toolmgr/core';
import { createRemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import { readSecretBytes, readSecretReference, type SecretReference, signatureOf } from '@toolmgr/plugins/kit/secrets';
import { RECEIVER_RULES, type RemoteSinks } from './config.ts';
import type { Sink } from './file.ts';
import { splitLines } from './lines.ts';

const TIMEOUT_MS = 10_000;
/** Another attempt with the same lines gets the same answer, and would keep back all lines after them. */
const REFUSED: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/** What is posted. */
interface Post {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Posts lines as they are, signed when the configuration has a key. @throws as `readSecretReference` */
export async function webhookSink(
  { url, hmacSecretRef, tokenRef }: NonNullable<RemoteSinks['webhook']>,
  core: Core,
): Promise<Sink> {
  const headers = {
    'content-type': 'application/x-ndjson',
    ...(await bearer(tokenRef, core, 'audit.webhook.tokenRef')),
  };
  const key =
    hmacSecretRef === undefined
      ? undefined
      : createSecretKey(await readSecretBytes(core.slots, hmacSecretRef, 'audit.webhook.hmacSecretRef'));
  return httpSink('webhook', url, core, (lines) => {
    if (key === undefined) return { body: lines, headers };
    const seconds = String(Math.floor(core.now() / 1000));
    const signed = { 'x-toolmgr-timestamp': seconds, 'x-toolmgr-signature': signatureOf(key, seconds, lines) };
    return { body: lines, headers: { ...headers, ...signed } };
  });
}

/**
 * Sends lines as log records. Shape: OTLP over HTTP in JSON; the body of a record is the line, `eventName` its type.
 * @throws as `readSecretReference`
 */
export async function otlpSink(
  { endpoint, tokenRef }: NonNullable<RemoteSinks['otlp']>,
  component: string,
  core: Core,
): Promise<Sink> {
  const headers = { 'content-type': 'application/json', ...(await bearer(tokenRef, core, 'audit.otlp.tokenRef')) };
  const resource = { attributes: [attribute('service.name', component)] };
  return httpSink('otlp', `${endpoint.replace(/\/+$/, '')}/v1/logs`, core, (lines) => {
    const scopeLogs = [{ scope: { name: 'toolmgr.audit' }, logRecords: splitLines(lines).map(recordOf) }];
    return { body: Buffer.from(JSON.stringify({ resourceLogs: [{ resource, scopeLogs }] })), headers };
  });
}

function recordOf(line: string): JsonObject {
  const read = parsedJson(line);
  const { logged_at: at, type, msg, audit_id: id, outcome }: JsonObject = isObject(read) ? read : {};
  const ns = `${Date.parse(String(at ?? '')) || 0}000000`;
  const named = Object.entries({ 'audit.id': id, 'audit.outcome': outcome }).filter(([, value]) => value !== undefined);
  return {
    timeUnixNano: ns,
    observedTimeUnixNano: ns,
    severityNumber: 9, // INFO
    severityText: 'INFO',
    eventName: String(type ?? msg ?? ''),
    body: { stringValue: line },
    attributes: named.map(([key, value]) => attribute(key, String(value))),
  };
}

function attribute(key: string, value: string): JsonObject {
  return { key, value: { stringValue: value } };
}

async function bearer(
  reference: SecretReference | undefined,
  { slots }: Core,
  where: string,
): Promise<Readonly<Record<string, string>>> {
  if (reference === undefined) return {};
  return { authorization: `Bearer ${(await readSecretReference(slots, reference, where)).reveal()}` };
}

/** Each batch is one request. What the receiver refuses for good is reported and left out; any other failure is repeated by the journal. */
function httpSink(name: string, url: string, core: Core, postOf: (lines: Buffer) => Post): Sink {
  const http = createRemoteHttp({ ...RECEIVER_RULES, timeoutMs: TIMEOUT_MS, connections: 1 });
  const refused = throttledLine(core, 'audit events were refused', { level: 'error', counted: 'refused' });
  return {
    async write(lines) {
      const { status } = await http.send(url, { method: 'POST', ...postOf(lines) });
      if (REFUSED.has(status)) refused.add({ sink: name, status }, splitLines(lines).length);
      else if (status < 200 || status > 299) throw new Error(`status ${status}`);
      return lines.length;
    },
    async close() {
      refused.flush();
      await http.close();
    },
  };
}
