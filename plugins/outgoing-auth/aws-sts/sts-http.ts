import type { STSClientConfig } from '@aws-sdk/client-sts';
import { createRemoteHttp } from '@toolmgr/plugins/kit/safe-http';

const TIMEOUT_MS = 10_000; // less than the default timeout of a call, 30 s
const MAX_ANSWER_BYTES = 64 * 1024;

type Handler = Extract<NonNullable<STSClientConfig['requestHandler']>, { handle(...args: never[]): unknown }>;
type HttpRequest = Parameters<Handler['handle']>[0];

/** The bounded HTTP client of the gateway as the AWS SDK's request handler, so that proxies and CAs are those of the gateway. */
export function createStsHttp(): { readonly handler: Handler; close(): Promise<void> } {
  // an endpoint of the operator's choice may be private (a VPC endpoint); tokens leave this machine over https only
  const http = createRemoteHttp({
    allowPrivateAddresses: true,
    allowHttp: 'loopback',
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_ANSWER_BYTES,
  });
  const handler: Handler = {
    async handle({ protocol, hostname, port, path, headers, body }: HttpRequest) {
      const { host: _, 'content-length': __, ...rest } = headers;
      const url = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`;
      const answer = await http.send(url, { method: 'POST', headers: rest, body: String(body) });
      const given = Object.entries(answer.headers).map(([name, value]) => [name, String(value)]);
      const response = { statusCode: answer.status, headers: Object.fromEntries(given), body: answer.body };
      return { response };
    },
    updateHttpClientConfig() {},
    httpHandlerConfigs: () => ({}),
  };
  return { handler, close: () => http.close() };
}
