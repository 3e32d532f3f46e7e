/** A path into a value as Kubernetes and JavaScript write it, after `where` if that is not empty: `backends[0].url`. */
export function fieldPath(path: readonly PropertyKey[], where = ''): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, where);
}
