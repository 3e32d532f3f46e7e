import { ANONYMOUS } from '@toolmgr/core';
import { expect, it } from 'vitest';
import { silentClient } from '../../../core/pipeline/silent-client.ts';

it('a client in code has the capabilities of its owner, and cannot be asked or told anything', () => {
  const owner = { key: 'o', caller: ANONYMOUS, capabilities: { elicitation: {} }, capabilityClass: 'elicitation' };
  const client = silentClient(owner);
  expect(client).toMatchObject({ era: '2026-07-28', owner, capabilities: { elicitation: {} } });
  expect([client.request, client.logLevel, client.progressToken]).toEqual([undefined, undefined, undefined]);
  expect(client.notify('notifications/progress', Buffer.from('{}'))).toBeUndefined();
});
