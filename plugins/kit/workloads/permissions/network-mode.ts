const ORDINARY: ReadonlySet<string> = new Set(['', 'bridge', 'default']);

/**
 * Whether a container with this network mode can be isolated. `host` and `none` cannot, and with the name of a network the
 * container is meant to reach the others in it.
 *
 * Source: run spec §4 `--network`; reference run-command §4.3.
 */
export function canBeIsolated(mode: string | undefined): boolean {
  return mode === undefined || ORDINARY.has(mode);
}
