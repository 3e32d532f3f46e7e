/** Waiting items in groups. Each group is first in, first out, and the groups take turns. */
export interface FairQueue<T> {
  add(group: string, item: T): void;
  /** Removes the oldest item of the group whose turn it is. */
  take(): T | undefined;
  readonly size: number;
}

interface Group<T> {
  readonly items: T[];
  /** Places before it are taken. */
  first: number;
}

/** Taken places that are removed at once: shifting an array of thousands is slow. */
const COMPACT_AT = 1_024;

/** Creates an empty queue. Adding and taking do not depend on the number of groups. */
export function createFairQueue<T>(): FairQueue<T> {
  const groups = new Map<string, Group<T>>(); // the first one has its turn
  let size = 0;
  return {
    add(name, item) {
      const group = groups.get(name) ?? { items: [], first: 0 };
      groups.set(name, group);
      group.items.push(item);
      size += 1;
    },
    take() {
      const [next] = groups;
      if (next === undefined) return undefined;
      const [name, group] = next;
      const item = group.items[group.first++];
      size -= 1;
      groups.delete(name);
      if (group.first < group.items.length) groups.set(name, group);
      if (group.first >= COMPACT_AT) {
        group.items.splice(0, group.first);
        group.first = 0;
      }
      return item;
    },
    get size() {
      return size;
    },
  };
}
