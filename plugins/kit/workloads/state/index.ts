// Records of workloads on disk: status, configuration and logs. Read by plugins, written by hosts.

export { hmacSecretOf, type WebhookSettings, webhookList } from '../../settings/webhook-settings.ts';
export { globalIgnoreFile, resolveOverlays } from '../permissions/ignore-overlays.ts';
export { type MountsRead, readMounts, volumeText } from '../permissions/mounts.ts';
export { canBeIsolated } from '../permissions/network-mode.ts';
export { type PermissionProfile, permissionProfile, readProfile } from '../permissions/profile.ts';
export { MEMORY_FORM, memoryBytes } from '../permissions/resource-limits.ts';
export { atomicWrite } from './atomic-write.ts';
export { DEFAULT_GROUP, groupName, newGroupName } from './group-name.ts';
export {
  changeGroup,
  createGroup,
  type GroupRecord,
  readGroup,
  readGroups,
  removeGroup,
} from './groups.ts';
export { type Installation, thisInstallation } from './installation.ts';
export { withFileLock, withLock } from './lock.ts';
export { type LogFile, openLogFile } from './log-file.ts';
export { isRunning, markProcess, type ProcessMark } from './process-identity.ts';
export { type RecordReader, recordReader } from './record-cache.ts';
export {
  changeConfig,
  changeStatus,
  createRecord,
  removeLeftFolders,
  removeRecord,
  type StatusChange,
} from './records.ts';
export { finishReplacement, isReplaced, replaceConfig, restoreConfig } from './replace-config.ts';
export { type ReadRunConfig, readRunConfig } from './run-config/read-run-config.ts';
export { type RemoteAuthConfig, resourceProblem, withoutLogin } from './run-config/remote-auth-config.ts';
export { RUN_CONFIG_VERSION, type RunConfig, runConfig } from './run-config/run-config.ts';
export { findConflict, servesSse } from './run-config/run-config-conflicts.ts';
export { secretReference } from './run-config/secret-reference.ts';
export { stateDir } from './state-dir.ts';
export { storageFault } from './storage-fault.ts';
export { type Transition, transitions } from './transitions.ts';
export { type WholeLines, wholeLines } from './whole-lines.ts';
export { RESERVED_WORKLOAD_NAMES, workloadName } from './workload-name.ts';
export {
  type DesiredState,
  desiredOf,
  isHeldName,
  listWorkloadNames,
  readWorkload,
  readWorkloads,
  WORKLOAD_FILES,
  type WorkloadRecord,
  type WorkloadStatus,
  whyNotRestarted,
  workloadDir,
  workloadsDir,
} from './workload-record.ts';
export {
  encryptedPlace,
  forgetSecrets,
  keepNewSecrets,
  readWorkloadSecrets,
  type SystemSecrets,
  useSystemSecrets,
  type WorkloadSecretStore,
  type WorkloadSecretsFile,
  workloadSecretStore,
} from './workload-secret-store.ts';
