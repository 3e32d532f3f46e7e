import { PROBLEMS, problem, problemBody } from '@toolmgr/plugins/kit/operations';
import { describe, expect, test } from 'vitest';

describe('problems of the manager', () => {
  test('have the members of RFC 9457, a code, and the fields that are wrong', () => {
    const errors = [{ in: 'body', path: 'names', detail: 'expected at least one name' }] as const;
    expect(problemBody(problem('bad_request', 'names: expected at least one name', errors))).toEqual({
      type: 'https://toolmgr.dev/problems/bad_request',
      title: 'The request is not valid',
      status: 400,
      detail: 'names: expected at least one name',
      code: 'bad_request',
      errors,
    });
  });

  test('leave out the fields when there are none', () => {
    expect(problemBody(problem('not_found', 'there is no workload a'))).not.toHaveProperty('errors');
  });

  test('have a status of a client or server error', () => {
    for (const { status } of Object.values(PROBLEMS)) expect(status).toBeGreaterThanOrEqual(400);
  });
});
