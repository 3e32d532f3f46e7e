type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const REPLACEMENTS: readonly Json[] = [null, 5, 1.5, 'x', '', true, [], ['x'], {}, { x: 'y' }];

/** Documents that differ from `document` in one value: it is absent, or another one. */
export function mutationsOf(document: Json): readonly Json[] {
  const found: Json[] = [];
  const each = (value: Json, put: (value: Json) => Json): void => {
    for (const other of REPLACEMENTS) found.push(put(other));
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) each(item, (next) => put(value.with(index, next)));
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    for (const [key, member] of Object.entries(value)) {
      const { [key]: _, ...rest } = value as Record<string, Json>;
      found.push(put(rest));
      each(member, (next) => put({ ...value, [key]: next }));
    }
  };
  each(document, (value) => value);
  return found;
}
