import { signal } from '@preact/signals';

/** A place on the page: `#/workloads/github?tab=logs`. */
export interface Route {
  /** Empty: the first view. */
  readonly view: string;
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

export const route = signal<Route>(readHash());

addEventListener('hashchange', () => {
  route.value = readHash();
});

/** The address of a place, for links. Parts are escaped. */
export function linkTo(
  view: string,
  parts: readonly string[] = [],
  query: Readonly<Record<string, string>> = {},
): string {
  const path = [view, ...parts].map(encodeURIComponent).join('/');
  const text = new URLSearchParams(query).toString();
  return `#/${path}${text === '' ? '' : `?${text}`}`;
}

/** Opens a place as a link does. */
export function openPlace(
  view: string,
  parts: readonly string[] = [],
  query: Readonly<Record<string, string>> = {},
): void {
  location.hash = linkTo(view, parts, query);
}

function readHash(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  const [view = '', ...parts] = path.split('/').map(decoded);
  return { view, parts: parts.filter((part) => part !== ''), query: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
