import { createHmac } from 'node:crypto';
import { type Authorizer, definePlugin, explainIssues, GatewayFault } from '@toolmgr/core';
import { z } from 'zod';

const ADDRESS = 'outgoing-auth/signed-requests';
const STRATEGY = 'signed_requests';
const READ_MS = 5_000;

const options = z.strictObject({
  keyEnv: z.string().min(1).describe('secret with the key; its value is never in the file'),
  headerName: z.string().toLowerCase().default('x-signature').describe('header with the signature'),
});

/** Signs each request to a backend with HMAC-SHA256 over its time and body. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'signs requests to backends with a shared key',
  config: z.strictObject({}),
  // a vmcp file is checked with it: a wrong option is reported with its line
  slotOptions: { [STRATEGY]: options },
  apply({ slots, now }) {
    slots.authStrategies.register(STRATEGY, {
      async prepare(given, where): Promise<Authorizer> {
        const read = options.safeParse(given);
        if (!read.success) {
          throw new GatewayFault('AUTH_STRATEGY_INVALID', explainIssues(where, options, read.error).join('\n'));
        }
        const { keyEnv, headerName } = read.data;
        const key = await slots.secretSources.get('environment').read(keyEnv, AbortSignal.timeout(READ_MS));
        return {
          headerNames: [headerName, 'x-time'],
          // once per request to the backend, also for those of the gateway itself
          apply({ headers, body = '' }) {
            const time = new Date(now()).toISOString();
            headers['x-time'] = time;
            headers[headerName] = createHmac('sha256', key).update(`${time}\n`).update(body).digest('hex');
          },
        };
      },
    });
  },
});
