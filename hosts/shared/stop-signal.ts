/**
 * A signal that aborts on the first SIGINT, SIGTERM or SIGHUP. The second one ends the process immediately. `release`, or
 * disposing, removes the listeners.
 */
export function stopSignal(
  names: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'],
): Disposable & { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(name === 'SIGINT' ? 130 : 143);
    controller.abort();
  };
  for (const name of names) process.on(name, onSignal);
  const release = (): void => {
    for (const name of names) process.off(name, onSignal);
  };
  return { signal: controller.signal, release, [Symbol.dispose]: release };
}
