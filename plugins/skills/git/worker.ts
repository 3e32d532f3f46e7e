import { parentPort, workerData } from 'node:worker_threads';
import type { GitJob } from './git-job.ts';
import { readGitTree } from './read-tree.ts';

// Thread entry: reads one repository, so that a large one does not block the process.

parentPort?.postMessage(await readGitTree(workerData as GitJob));
