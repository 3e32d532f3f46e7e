import { expect, it } from 'vitest';
import { describedOperations } from '../../../../hosts/manager/all-operations.ts';
import { CALLS } from '../../../../hosts/manager/page/app/call-table.ts';

it('every operation that the page calls is served by the manager, with the same method and path', () => {
  const { operations } = describedOperations();
  const served = new Set(operations.map(({ method, path }) => `${method} ${path}`));
  const missing = Object.values(CALLS)
    .map((call) => call.join(' '))
    .filter((call) => !served.has(call) && !NOT_SERVED_YET.test(call));
  expect(missing).toEqual([]);
});

/** Features whose operations are not in the plan yet; their views show the refusal of the host. */
const NOT_SERVED_YET = /upgrade|\/v1beta\/(?:secrets|skills)/;
