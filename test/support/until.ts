/** Resolves when the condition is true; rejects after `ms`. Polls every few milliseconds, and less often the longer it takes. */
export async function until(condition: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> {
  const startedMs = Date.now();
  const deadline = startedMs + ms;
  while (!(await condition())) {
    if (Date.now() > deadline)
      throw new Error(`did not become true within ${ms} ms: ${condition.toString().slice(0, 200)}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs(Date.now() - startedMs)));
  }
}

/** A twentieth of the time so far, within limits: a wait of many seconds must not use a core. */
function pauseMs(soFarMs: number): number {
  return Math.min(Math.max(soFarMs / 20, SHORTEST_MS), LONGEST_MS);
}

const SHORTEST_MS = 5;
const LONGEST_MS = 50;
