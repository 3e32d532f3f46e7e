// Records of workloads on disk: status, configuration and logs. Read by plugins, written by hosts.
export { type LogFile, openLogFile } from './log-file.ts';
export { isRunning, markProcess, type ProcessMark } from './process-identity.ts';
export { changeStatus, createRecord, removeRecord, type StatusChange } from './records.ts';
export {
  readWorkload,
  readWorkloads,
  stateDir,
  WORKLOAD_FILES,
  type WorkloadConfig,
  type WorkloadRecord,
  type WorkloadStatus,
  workloadConfig,
  workloadDir,
  workloadName,
  workloadsDir,
} from './workload-record.ts';
