/** The Kubernetes API on plain JSON objects: requests, lists and watches. */
export {
  type Api,
  ApiError,
  type Applied,
  type ApplyOptions,
  type ListOptions,
  type ObjectList,
  type WatchEvent,
  type WatchOptions,
} from './api.ts';
export {
  AUTH_CONFIG_REF,
  BACKENDS_KEY,
  type BackendsDocument,
  backendsDocument,
  type DocumentBackend,
} from './backends-document.ts';
export type { Connection, Credentials, TlsSettings } from './connection.ts';
export { type ApiSettings, type ClosableApi, createApi, isMissingType } from './create-api.ts';
export type {
  ClusterFindings,
  ClusterReader,
  ClusterServer,
  EnvName,
  ExternalAuth,
  ExternalAuthFacts,
  ExternalAuthRefusal,
  FoundObject,
  FromCluster,
  ObjectField,
  ObjectUse,
  PodReferences,
  ReadSettings,
  ReferenceWords,
  SectionInCluster,
  SettingsKind,
} from './from-cluster.ts';
export { inClusterConnection, isInCluster, SERVICE_ACCOUNT_FOLDER } from './in-cluster.ts';
export {
  type Condition,
  type KubeObject,
  keyOf,
  keyText,
  type ObjectKey,
  type ObjectMeta,
  type OwnerReference,
  type Resource,
  type ResourceType,
} from './object.ts';
export { type PodSection, podSection } from './pod-section.ts';
export { type ReflectorOptions, reflect, type WatchEnd } from './reflector.ts';
export { type ObservedAnswer, pause } from './requests.ts';
export {
  type Addition,
  caBundleRef,
  durationRule,
  forbidden,
  httpsUrl,
  httpUrl,
  int32,
  type KubeMeta,
  kube,
  MAX_DURATION,
  objectName,
  ofSection,
  onlyWithType,
  type Rule,
  requires,
  scopes,
  secretKeyRef,
  text,
  texts,
} from './schema.ts';
