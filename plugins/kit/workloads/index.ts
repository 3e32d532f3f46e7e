/** Records of workloads on disk: names, groups, configuration, status and secrets. */
export { buildOf } from './container-build.ts';
export type { FlagsPart, FromFlags, WorkloadStart } from './from-flags.ts';
export { heldWorkload } from './held-workload.ts';
export { NO_RESTARTS, nextRestart, type RestartPolicy, restartSettings } from './restart-policy.ts';
export { DEFAULT_GROUP, groupName, newGroupName } from './state/group-name.ts';
export { changeGroup, createGroup, type GroupRecord, readGroup, readGroups, removeGroup } from './state/groups.ts';
export { type Installation, thisInstallation } from './state/installation.ts';
export { createOutput, type Output } from './state/output.ts';
export { type RecordReader, recordReader } from './state/record-cache.ts';
export {
  changeConfig,
  changeStatus,
  createRecord,
  removeLeftFolders,
  removeRecord,
  type StatusChange,
} from './state/records.ts';
export { finishReplacement, replaceConfig, restoreConfig } from './state/replace-config.ts';
export { endpointPrefix } from './state/run-config/endpoint-prefix.ts';
export { type FieldRule, fieldRules } from './state/run-config/field-rules.ts';
export { podName } from './state/run-config/pod-form.ts';
export type { ReadRunConfig } from './state/run-config/read-run-config.ts';
export { readRunConfig, withoutStoredLogin } from './state/run-config/read-run-config.ts';
export { type RemoteAuthConfig, resourceProblem, withoutLogin } from './state/run-config/remote-auth-config.ts';
export { RUN_CONFIG_VERSION, type RunConfig, runConfig } from './state/run-config/run-config.ts';
export { findConflict, servesSse } from './state/run-config/run-config-conflicts.ts';
export { headerSecret, secretNameOf, secretReference } from './state/run-config/secret-reference.ts';
export { storageFault } from './state/storage-fault.ts';
export { type Transition, transitions } from './state/transitions.ts';
export { RESERVED_WORKLOAD_NAMES, workloadName } from './state/workload-name.ts';
export type { DesiredState, WorkloadStatus } from './state/workload-record.ts';
export {
  desiredOf,
  isHeldName,
  listWorkloadNames,
  readWorkload,
  readWorkloads,
  WORKLOAD_FILES,
  type WorkloadRecord,
  whyNotRestarted,
  workloadDir,
  workloadsDir,
} from './state/workload-record.ts';
export type { WorkloadSecretsFile } from './state/workload-secret-store.ts';
export {
  encryptedPlace,
  forgetSecrets,
  keepNewSecrets,
  readWorkloadSecrets,
  type SystemSecrets,
  useSystemSecrets,
  type WorkloadSecretStore,
  workloadSecretStore,
} from './state/workload-secret-store.ts';
