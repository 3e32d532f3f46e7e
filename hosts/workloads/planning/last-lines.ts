import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { shortened } from '@toolmgr/core';
import { WORKLOAD_FILES, workloadDir } from '@toolmgr/plugins/kit/workloads';

/** Sizes of the logs of a workload in bytes; what is behind them is new. */
export interface LogEnds {
  readonly output: number;
  readonly proxy: number;
}

/** Where the logs of a workload end now. */
export async function logEnds(state: string, name: string): Promise<LogEnds> {
  const sizeOf = (file: string) =>
    stat(join(workloadDir(state, name), file)).then(
      ({ size }) => size,
      () => 0,
    );
  return { output: await sizeOf(WORKLOAD_FILES.log), proxy: await sizeOf(WORKLOAD_FILES.proxyLog) };
}

/**
 * The last lines of output after `from`. If there are none, what the log of the proxy tells beyond `reason`: the causes of
 * its warnings and errors, and lines that it did not write itself, such as a crash of Node.js.
 */
export async function lastLines(
  state: string,
  name: string,
  from: LogEnds,
  reason: string,
): Promise<readonly string[]> {
  const output = await linesAfter(join(workloadDir(state, name), WORKLOAD_FILES.log), from.output);
  if (output.length > 0)
    return withoutRepeats(output.slice(-READ_LINES))
      .slice(-SHOWN_LINES)
      .map((line) => shortened(line, MAX_LINE));
  const log = await linesAfter(join(workloadDir(state, name), WORKLOAD_FILES.proxyLog), from.proxy);
  const told = log.map(causeIn).filter((line) => line !== undefined && !reason.includes(line));
  const unique = [...new Set(told as string[])];
  const whole = unique.filter((line) => !unique.some((other) => other !== line && other.includes(line)));
  return whole.slice(-SHOWN_LINES).map((line) => shortened(line, MAX_LINE));
}

/** A server that dies in the same way at each start writes the same block again: it is told once. */
function withoutRepeats(lines: readonly string[]): readonly string[] {
  let shortest = lines;
  for (let size = 1; size <= lines.length / 2; size++) {
    let rest = lines;
    while (endsTwice(rest, size)) rest = rest.slice(0, -size);
    if (rest.length < shortest.length) shortest = rest;
  }
  return shortest;
}

/** Whether the last `size` lines are also those before them. */
function endsTwice(lines: readonly string[], size: number): boolean {
  const start = lines.length - size;
  return start >= size && lines.slice(start).every((line, at) => line === lines[start - size + at]);
}

const MAX_LINE = 1_000; // characters

async function linesAfter(path: string, from: number): Promise<string[]> {
  const bytes = await readFile(path).catch(() => Buffer.alloc(0));
  const text = bytes.subarray(bytes.length < from ? 0 : from).toString(); // a shorter log was begun anew
  return text.split('\n').filter((line) => line.trim() !== '');
}

/** The cause in a line of the proxy; the line itself if it is not JSON. */
function causeIn(line: string): string | undefined {
  if (!line.startsWith('{')) return line;
  try {
    const { cause, reason } = JSON.parse(line) as { readonly cause?: unknown; readonly reason?: unknown };
    const told = cause ?? reason;
    return typeof told === 'string' ? told.trim() : undefined;
  } catch {
    return line;
  }
}

const SHOWN_LINES = 15;
const READ_LINES = 200; // in which repeated lines are found
