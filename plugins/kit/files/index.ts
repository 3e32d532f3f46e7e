/** Files that several processes share: whole or not at all, one writer at a time, and marks of running processes. */
export { atomicWrite, removeTemporaries, syncFolder } from './atomic-write.ts';
export { withFileLock, withLock } from './lock.ts';
export { type LogFile, openLogFile } from './log-file.ts';
export { isRunning, markProcess, type ProcessMark } from './process-identity.ts';
export { stateDir } from './state-dir.ts';
export { whenAbsent } from './when-absent.ts';
export type { WholeLines } from './whole-lines.ts';
export { wholeLines } from './whole-lines.ts';
