/** An object with the names of fields in camel case, at all levels. */
export function inCamelCase(given: object | undefined): Readonly<Record<string, unknown>> | undefined {
  if (given === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(given).map(([key, value]: [string, unknown]) => [camelCase(key), inside(value)]),
  );
}

function inside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inside);
  return typeof value === 'object' && value !== null ? inCamelCase(value) : value;
}

function camelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
