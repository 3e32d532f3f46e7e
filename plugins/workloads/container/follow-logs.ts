import type { Container } from 'dockerode';
import type { Output } from '../state/output.ts';
import { frameSplitter } from './stream-frames.ts';

/** Copies what a container prints into the workload's output until the container is removed. */
export function followLogs(container: Container, output: Output): void {
  container.logs({ follow: true, stdout: true, stderr: true }).then(
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
