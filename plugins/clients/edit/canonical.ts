/** A text that is equal for equal values, whatever the order of their members. */
export function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_key, member: unknown) => {
      if (typeof member === 'bigint') return `${member}n`;
      if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
      const sorted: Record<string, unknown> = Object.create(null);
      for (const key of Object.keys(member).sort()) sorted[key] = (member as Record<string, unknown>)[key];
      return sorted;
    }) ?? 'undefined'
  );
}

/** A copy of an object with a member set or, for `undefined`, without it. `__proto__` is a member like any other. */
export function withMember(object: unknown, key: string, value: unknown): Record<string, unknown> {
  const copy: Record<string, unknown> = Object.create(null);
  for (const [name, member] of Object.entries(isObject(object) ? object : {})) copy[name] = member;
  if (value === undefined) delete copy[key];
  else copy[key] = value;
  return copy;
}

/** A member of an object; `undefined` for everything else. */
export function memberOf(object: unknown, key: string): unknown {
  return isObject(object) && Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Whether a value is an object with members. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
