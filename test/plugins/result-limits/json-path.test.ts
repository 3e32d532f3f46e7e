import { describe, expect, it } from 'vitest';
import { valueAt } from '../../../plugins/result-limits/json-path.ts';

describe('a path into JSON', () => {
  it('takes $ for the root only where a name does not go on', () => {
    const root = { $ref: 'a', ref: 'b', $: 'c', list: [1] };
    const wanted = { $ref: 'a', '$.$ref': 'a', '$.ref': 'b', '["$"]': 'c', '$["$"]': 'c', $: root, '$.list[0]': 1 };
    for (const [path, value] of Object.entries(wanted)) expect(valueAt(root, path), path).toEqual({ value });
    expect(valueAt([1], '$[0]')).toEqual({ value: 1 });
  });
});
