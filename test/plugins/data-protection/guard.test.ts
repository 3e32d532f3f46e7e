import type { Call } from '@toolmgr/core';
import { dataFound } from '@toolmgr/plugins/kit/extension-points';
import { expect, it } from 'vitest';
import { dataProtectionConfig } from '../../../plugins/data-protection/config.ts';
import { createGuard } from '../../../plugins/data-protection/guard.ts';
import { compileScopes, type Scope } from '../../../plugins/data-protection/scopes.ts';
import { pluginCore } from '../../support/plugin-core.ts';
import { CARD, MAIL } from '../../support/protected-gateway.ts';
import { proves } from '../../support/proves.ts';

const config = dataProtectionConfig.parse({
  rules: [
    { direction: 'results', detectors: ['mail-address'], action: 'report' },
    { direction: 'results', detectors: ['personal'], action: 'block' },
  ],
});

/** What the guard reads of a call. */
const callOf = (kind: string, name: string) =>
  ({ id: 'c-1', method: 'tools/call', name, target: { kind, key: name, backend: 'far' } }) as unknown as Call;

proves('ask.protection.report', 'a line of the log and an event for each detector, without a value', () => {
  const core = pluginCore();
  const events: unknown[] = [];
  core.hook(dataFound).tap('test', ({ call: _, ...found }) => void events.push(found));
  const guard = createGuard(core, config);
  const call = callOf('tool', 'save');
  const scope = compileScopes(config)(call, 'results') as Scope;
  const outcome = guard.search(call, scope, (search) => search.fixedText(`${MAIL} ${CARD} bob@example.com`));
  expect(outcome).toMatchObject({ refusal: { status: 422, reason: expect.stringContaining('(card-number)') } });
  const place = { call: 'c-1', name: 'save', backend: 'far', direction: 'results' };
  expect(core.lines).toEqual([
    {
      level: 'info',
      message: 'data was found',
      fields: { ...place, detector: 'mail-address', action: 'report', count: 2 },
    },
    {
      level: 'info',
      message: 'data was found',
      fields: { ...place, detector: 'card-number', action: 'block', count: 1 },
    },
  ]);
  const event = { direction: 'results', atMs: core.clock.nowMs };
  expect(events).toEqual([
    { ...event, detector: 'mail-address', action: 'report', count: 2 },
    { ...event, detector: 'card-number', action: 'block', count: 1 },
  ]);
});

it('a line about a resource has no URI, which may have what was found', () => {
  const core = pluginCore();
  const call = callOf('resource', `memo://${MAIL}`);
  const scope = compileScopes(config)(call, 'results') as Scope;
  createGuard(core, config).search(call, scope, (search) => search.fixedText(call.name));
  expect(core.lines).toHaveLength(1);
  expect(JSON.stringify(core.lines)).not.toContain(MAIL);
});
