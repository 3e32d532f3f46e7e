import type { Resource } from '@toolmgr/plugins/kit/kubernetes';
import { expect, it } from 'vitest';
import { failureEvent } from '../../../../hosts/operator/controllers/failure-event.ts';
import { proves } from '../../../support/proves.ts';

const object = (status?: object, generation = 1): Resource => ({
  apiVersion: 'toolmgr.dev/v1beta1',
  kind: 'MCPServer',
  metadata: { name: 'a', namespace: 'team', generation },
  spec: {},
  ...(status === undefined ? {} : { status }),
});
const failed = (message: string, reason = 'ConfigurationFailed') => ({
  phase: 'Failed',
  message,
  conditions: [{ type: 'Ready', status: 'False', reason, message }],
});
const PENDING = { phase: 'Pending', message: 'no pod is ready yet', conditions: [] };

proves('choice.operator.failed-events', 'an object that becomes Failed gets one Warning event with the cause', () => {
  const event = failureEvent(object(PENDING), failed('no image'));
  expect(event).toMatchObject({ type: 'Warning', reason: 'ConfigurationFailed', message: 'no image' });
  expect(failureEvent(object(failed('no image')), failed('no image'))).toBeUndefined();
  expect(failureEvent(object(failed('no image'), 2), failed('no image'))).toBeUndefined();
  expect(failureEvent(object(), PENDING)).toBeUndefined();
  const other = failureEvent(object(failed('no image')), failed('no Secret'));
  expect(other?.message).toBe('no Secret');
  expect(other?.transition).not.toBe(event?.transition);
  // after a recovery it counts again with the next generation, and not for a phase that only flickers
  expect(failureEvent(object(PENDING), failed('no image'))?.transition).toBe(event?.transition);
  expect(failureEvent(object(PENDING, 2), failed('no image'))?.transition).not.toBe(event?.transition);
});

it('a failure that another event of the reconcile says already gets no second one', () => {
  const told = { type: 'Warning', reason: 'ServiceRefused', action: 'Reconcile', transition: '1' } as const;
  const wanted = failed('Service a was refused: quota; 1 pod with the last valid configuration keep serving');
  const same = { ...told, message: 'Service a was refused: quota' };
  expect(failureEvent(object(PENDING), wanted, [same])).toBeUndefined();
  expect(failureEvent(object(PENDING), wanted, [{ ...told, message: 'something else' }])).toBeDefined();
  expect(failureEvent(object(PENDING), wanted, [{ ...same, type: 'Normal' }])).toBeDefined();
});
