import { expect, it } from 'vitest';
import { describedOperations } from '../../../../hosts/manager/all-operations.ts';
import { CALLS } from '../../../../hosts/manager/page/app/call-table.ts';

it('every operation that the page calls is served by the manager, with the same method and path', async () => {
  const { operations } = await describedOperations();
  const served = new Set(operations.map(({ method, path }) => `${method} ${path}`));
  const missing = Object.values(CALLS)
    .map((call) => call.join(' '))
    .filter((call) => !served.has(call));
  expect(missing).toEqual([]);
});
