import type { BackendsDocument, Condition } from '@toolmgr/plugins/kit/kubernetes';
import type { VmcpConfig } from '../../vmcp/config-schema.ts';
import type { EventText } from '../machinery/controller.ts';

/**
 * What a VirtualMCPServer asks for: its conditions and events, and what its pods need. Equal inputs give an equal result,
 * also in the order of all lists and keys.
 */
export interface Resolution {
  readonly outcome: Outcome;
  /** All conditions that resolving decides. A condition of {@link isResolved} that is not listed does not apply: remove it. */
  readonly conditions: readonly ResolvedCondition[];
  /** Events of this state. Each has its transition, so that emitting it again changes nothing. */
  readonly events: readonly EventText[];
  /** Hashes of referenced configurations, only those whose reference is set. */
  readonly hashes: {
    readonly oidcConfigHash?: string;
    readonly authzConfigHash?: string;
    readonly telemetryConfigHash?: string;
  };
  /** The backends of the group, sorted by name, for the status before pods report. Those that are left out have a `problem`. */
  readonly effective: readonly EffectiveBackend[];
  /** What the pods need. Absent when the outcome is not `ready`: existing pods keep serving. */
  readonly pod?: PodInputs;
  /** Pull secrets for the service account, and for the pod before `podTemplateSpec` is merged. */
  readonly imagePullSecrets: readonly { readonly name: string }[];
  /** Every secret and config map that was looked at, also missing ones: their changes concern this object. */
  readonly references: { readonly secrets: readonly string[]; readonly configMaps: readonly string[] };
}

/** Whether pods can be made. `message` is for `status.message`. */
export type Outcome =
  | { readonly result: 'ready' }
  /** Something is not ready yet; its change queues the object again. */
  | { readonly result: 'waiting'; readonly phase: 'Pending'; readonly message: string }
  /** An error in the object or in what it refers to. */
  | { readonly result: 'failed'; readonly phase: 'Failed'; readonly message: string };

/** A condition without times. */
export type ResolvedCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** One backend of the group. Source: vmcp spec §2 `status.discoveredBackends[]`. */
export interface EffectiveBackend {
  readonly name: string;
  readonly url?: string;
  /** Strategy such as `header_injection`; `unauthenticated` without one. */
  readonly authType?: string;
  readonly authConfigRef?: string;
  /** Why pods do not serve it. */
  readonly problem?: string;
}

/** What the pods of one aggregator need. */
export interface PodInputs {
  /** The vmcp file. */
  readonly config: VmcpConfig;
  /** The same as YAML: `config.yaml` of the config map. */
  readonly configYaml: string;
  /** The backends that pods follow; only with the source `discovered`. */
  readonly document?: BackendsDocument;
  /** The same as JSON: `backends.json` of its config map. */
  readonly documentJson?: string;
  /** Environment of the container, sorted by name. */
  readonly env: readonly EnvVar[];
  /** Volumes of the pod without the one of `config.yaml`, sorted by name. */
  readonly volumes: readonly Volume[];
  readonly volumeMounts: readonly VolumeMount[];
  /** Names of the secrets that pods read over the API, sorted; the Role names them. */
  readonly secretNames: readonly string[];
  /** sha256 (hex) over the vmcp file and over the contents of secrets and config maps in `env` and `volumes`. */
  readonly checksum: string;
}

/** A variable of a container. Source: Kubernetes `v1` EnvVar. */
export type EnvVar =
  | { readonly name: string; readonly value: string }
  | {
      readonly name: string;
      readonly valueFrom: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
    };

/** A volume of a pod. Source: Kubernetes `v1` Volume. */
export type Volume =
  | {
      readonly name: string;
      readonly configMap: {
        readonly name: string;
        readonly items: readonly KeyToPath[];
        readonly defaultMode: number;
      };
    }
  | {
      readonly name: string;
      readonly projected: {
        readonly defaultMode: number;
        readonly sources: readonly {
          readonly secret: { readonly name: string; readonly items: readonly KeyToPath[] };
        }[];
      };
    };

interface KeyToPath {
  readonly key: string;
  readonly path: string;
}

/** Where a container sees a volume. Source: Kubernetes `v1` VolumeMount. */
export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly: true;
}

/** Whether resolving alone decides conditions of a type; the others come from pods. */
export function isResolved(type: string): boolean {
  return !OF_PODS.has(type);
}

const OF_PODS: ReadonlySet<string> = new Set(['Ready', 'Degraded']);

/** Whether a condition is a failed check because of which no pods are made. Others are about single backends, or advice. */
export function stopsServer({ type, status }: ResolvedCondition): boolean {
  return status === 'False' && !ADVICE.has(type) && !OF_BACKENDS.test(type);
}

const ADVICE: ReadonlySet<string> = new Set(['SessionStorageWarning', 'IdentitySynthesized', 'BackendsDiscovered']);
const OF_BACKENDS = /^(?:DefaultAuthConfig$|BackendAuthConfig-|DiscoveredAuthConfig-)/;
