import type { Container } from 'dockerode';
import type { Output } from '../state/output.ts';
import { frameSplitter } from './stream-frames.ts';

/** Copies what a container prints from `sinceMs` (epoch milliseconds) on into the workload's output until it ends. */
export function followLogs(container: Container, output: Output, sinceMs = 0): void {
  const since = Math.floor(sinceMs / 1_000);
  container.logs({ follow: true, stdout: true, stderr: true, since }).then(
    (stream) => {
      stream.on(
        'data',
        frameSplitter((_, piece) => output.add(piece)),
      );
      stream.on('error', () => undefined); // the engine went away
    },
    () => undefined, // the container ended before
  );
}
