import { definePlugin } from '@toolmgr/core';
import { z } from 'zod';
import { createHeaderInjection, headerInjectionOptions } from './strategy.ts';

/** Strategy `header_injection`: adds one fixed header to every request to the backend. */
export default definePlugin({
  address: 'outgoing-auth/header-injection',
  stability: 'stable',
  summary: 'adds one fixed header to every request to a backend',
  contractKey: 'outgoingAuth.*.headerInjection',
  config: z.strictObject({}),
  slotOptions: { header_injection: headerInjectionOptions },
  apply(core) {
    core.slots.authStrategies.register('header_injection', createHeaderInjection(core.slots));
  },
});
