type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** An object without its members that are `undefined`. */
export function present<T extends object>(given: T): Present<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Present<T>;
}
