import type { Operation } from '@toolmgr/plugins/kit/operations';

/** Which methods a path has. */
export interface MethodTable {
  /** Methods at a path of a request; `undefined` when no operation has it. */
  at(url: string): readonly string[] | undefined;
  /**
   * Paths without parameters that a path with parameters also matches, and the methods that only the latter has. They are
   * refused: a path without parameters wins.
   */
  readonly hidden: readonly { readonly path: string; readonly refused: readonly Method[] }[];
}

type Method = Operation['method'];

/** Makes the table. It is only read for requests that no route has. */
export function createMethodTable(operations: readonly Operation[]): MethodTable {
  const byPath = new Map<string, Set<Method>>();
  for (const { path, method } of operations) byPath.set(path, (byPath.get(path) ?? new Set()).add(method));
  const entries = [...byPath].map(([path, methods]) => ({ path, methods, pattern: patternOf(path) }));
  entries.sort((a, b) => parameters(a.path) - parameters(b.path));
  return {
    at(url) {
      const [path = ''] = url.split('?', 1);
      const found = entries.find(({ pattern }) => pattern.test(path));
      return found && allowed(found.methods);
    },
    hidden: entries.flatMap(({ path, methods, pattern }) => {
      if (parameters(path) > 0) return [];
      const others = entries.filter((other) => other.pattern !== pattern && other.pattern.test(path));
      const refused = new Set(others.flatMap((other) => [...other.methods]).filter((method) => !methods.has(method)));
      return refused.size === 0 ? [] : [{ path, refused: [...refused] }];
    }),
  };
}

function patternOf(path: string): RegExp {
  const escaped = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${escaped}$`);
}

function parameters(path: string): number {
  return path.split('{').length - 1;
}

function allowed(methods: ReadonlySet<Method>): readonly string[] {
  return methods.has('GET') ? ['HEAD', ...methods] : [...methods];
}
