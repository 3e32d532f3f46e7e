// Files of the state folder and marks of processes, without the records of workloads: hosts that run none load little.

export { atomicWrite } from './atomic-write.ts';
export { isRunning, markProcess, type ProcessMark } from './process-identity.ts';
export { stateDir } from './state-dir.ts';
