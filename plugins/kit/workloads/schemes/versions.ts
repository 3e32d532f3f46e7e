/**
 * Compares two versions: by numbers as in semantic versioning, else as text. A version with a suffix (`1.0.0-beta`) is older
 * than the one without it. Negative when `a` is older.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parts(a), parts(b)];
  if (left === undefined || right === undefined) {
    if (left !== undefined) return 1;
    return right !== undefined ? -1 : compareTexts(a, b);
  }
  return compareLists(left.numbers, right.numbers) || compareSuffixes(left.suffix, right.suffix) || compareTexts(a, b);
}

/** Whether a text is a version with numbers, for which {@link compareVersions} is more than an order of texts. */
export function isVersion(text: string): boolean {
  return parts(text) !== undefined;
}

/** Order of UTF-16 code units, the same on every machine. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function parts(version: string): { readonly numbers: readonly string[]; readonly suffix: string } | undefined {
  const [, numbers, suffix = ''] =
    /^v?(\d{1,16}(?:\.\d{1,16}){0,8})(?:-([0-9A-Za-z.-]+))?(?:\+.*)?$/.exec(version) ?? [];
  return numbers === undefined ? undefined : { numbers: numbers.split('.'), suffix };
}

function compareSuffixes(a: string, b: string): number {
  if (a === '' || b === '') return a === b ? 0 : a === '' ? 1 : -1;
  return compareLists(a.split('.'), b.split('.'));
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [left, right] = [a[at], b[at]];
    if (left === undefined || right === undefined) return left === undefined ? -1 : 1;
    const areNumbers = /^\d+$/.test(left) && /^\d+$/.test(right);
    const order = areNumbers ? Number(left) - Number(right) : compareTexts(left, right);
    if (order !== 0) return order;
  }
  return 0;
}
