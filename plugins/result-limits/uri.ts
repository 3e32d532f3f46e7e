const PREFIX = 'toolmgr-result://';

/**
 * The template of the resources that are kept results. It matches all that begin so, so that no backend is
 * asked for one.
 */
export const URI_TEMPLATE = `${PREFIX}{+id}`;

export function uriOf(id: string): string {
  return PREFIX + id;
}

/** The id in a URI; another text is returned unchanged. */
export function idFrom(text: string): string {
  return text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text;
}
