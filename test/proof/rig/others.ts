import { Agent, request as httpRequest } from 'node:http';
import { quantile } from './cells.ts';

/** How long calls took, in milliseconds. */
export interface Times {
  readonly calls: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly maxMs: number;
  /** Failures and their counts. */
  readonly failures: Readonly<Record<string, number>>;
}

/** Creates the request of a call. */
export type MakeCall = () => { readonly headers: Readonly<Record<string, string>>; readonly body: string };

const LANES = 4;
const PAUSE_MS = 5;

/** Calls for `ms` milliseconds on a few connections that are kept, with a short pause after each call, and measures. */
export async function measureOthers(url: string, make: MakeCall, ms: number, lanes = LANES): Promise<Times> {
  const agent = new Agent({ keepAlive: true, maxSockets: lanes });
  const times: number[] = [];
  const failures: Record<string, number> = {};
  const untilMs = performance.now() + ms;
  const lane = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      const startedMs = performance.now();
      const failure = await call(url, make(), agent);
      times.push(performance.now() - startedMs);
      if (failure !== undefined) failures[failure] = (failures[failure] ?? 0) + 1;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  agent.destroy();
  const at = (share: number): number => quantile(times, share);
  return { calls: times.length, p50Ms: at(0.5), p95Ms: at(0.95), maxMs: at(1), failures };
}

/** The failure of a call; `undefined` when it has a result. */
function call(url: string, { headers, body }: ReturnType<MakeCall>, agent: Agent): Promise<string | undefined> {
  return new Promise((resolve) => {
    const sent = httpRequest(url, { method: 'POST', headers, agent }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      answer.once('end', () => {
        if (answer.statusCode !== 200) resolve(`status ${answer.statusCode}`);
        else resolve(text.includes('"result":') && !text.includes('"isError":true') ? undefined : text.slice(0, 200));
      });
    });
    sent.once('error', (cause) => resolve(cause.message));
    sent.end(body);
  });
}
