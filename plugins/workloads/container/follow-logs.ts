import type { Output } from '@toolmgr/plugins/kit/workloads';
import type { Container } from 'dockerode';
import { frameSplitter } from './stream-frames.ts';

/**
 * Copies what a container prints from `sinceMs` (epoch milliseconds) on into the workload's output. Resolves when that ends: with the
 * container, with the connection to the engine, or at once where the engine keeps no output.
 */
export async function followLogs(container: Container, output: Output, sinceMs = 0): Promise<void> {
  const since = Math.floor(sinceMs / 1_000);
  const { promise, resolve } = Promise.withResolvers<void>();
  container.logs({ follow: true, stdout: true, stderr: true, since }).then(
    (stream) => {
      stream.on(
        'data',
        frameSplitter((_, piece) => output.add(piece)),
      );
      stream.on('error', () => resolve()); // the engine went away
      stream.once('close', resolve);
      stream.once('end', resolve);
    },
    () => resolve(), // the container ended before
  );
  return promise;
}
