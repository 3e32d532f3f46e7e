/** Ends the process shortly after its work has ended, whatever still waits: an unreachable collector, or output that is not read. */
export function exitSoon(): void {
  setTimeout(() => process.exit(), EXIT_MS).unref();
}

const EXIT_MS = 250;
