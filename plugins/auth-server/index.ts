import { definePlugin, GatewayFault } from '@toolmgr/core';
import { authServerConfig } from './config.ts';

const ADDRESS = 'auth-server';

/** The embedded authorization server. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'signs people in at upstream identity providers and issues the tokens that clients send',
  contractKey: 'authServerConfig',
  config: authServerConfig,
  apply() {
    throw new GatewayFault('PLAN_INVALID', `${ADDRESS}: is not available yet`);
  },
});
