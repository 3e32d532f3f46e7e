/** Variables of our own environment that a workload gets; everything else it must be given. */
export const INHERITED = ['PATH', 'HOME', 'USER', 'LANG', 'TERM', 'SHELL', 'TMPDIR'] as const;

/** The whole environment of a workload: the few inherited variables, then what it was given. */
export function workloadEnvironment(
  given: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const inherited = INHERITED.flatMap((name) => {
    const value = own[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(inherited), ...given };
}
