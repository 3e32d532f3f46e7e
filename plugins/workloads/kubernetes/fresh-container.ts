import { type Api, type KubeObject, pause, type ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import type { PodContainer } from './attach.ts';

/** A pod with the fields that are read. */
interface Pod extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly containerStatuses?: readonly Status[];
  };
}

interface Status {
  readonly name: string;
  /** Changes with every start. */
  readonly containerID?: string;
  readonly state?: State;
  readonly lastState?: State;
}

interface State {
  readonly running?: object;
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly terminated?: { readonly containerID?: string; readonly exitCode: number };
}

const PODS: ResourceType<Pod> = { apiVersion: 'v1', kind: 'Pod', plural: 'pods' };

/** How often a pod is read while it is waited for. */
const POLL_MS = { first: 250, max: 2_000 };
/** Time for a server to end after its stdin has ended. */
const END_MS = 5_000;

/** What {@link freshContainer} needs. */
export interface Wanted {
  readonly api: Api;
  readonly pod: PodContainer;
  /** Id of the container that was used before: its stdin has ended. */
  readonly usedId: string | undefined;
  /** Called when what is waited for changes. */
  readonly waiting: (reason: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Waits for a running container whose stdin has not been used, and returns its id; `undefined` when `signal` aborts.
 *
 * A container with `stdinOnce` is one session: at the end of its stdin the server ends, and the kubelet starts it again. The pod of
 * a server that does not end is deleted, so that its StatefulSet makes a new one.
 * @throws ApiError when the pod cannot be read or deleted
 */
export async function freshContainer({ api, pod, usedId, waiting, signal }: Wanted): Promise<string | undefined> {
  const key = { namespace: pod.namespace, name: pod.name };
  const sinceMs = performance.now();
  let reported = '';
  let hasDeleted = false;
  for (let pauseMs = POLL_MS.first; !signal.aborted; pauseMs = Math.min(pauseMs * 2, POLL_MS.max)) {
    const found = await api.get(PODS, key);
    const status = found?.status?.containerStatuses?.find(({ name }) => name === pod.container);
    const isRunning = status?.state?.running !== undefined && found?.metadata.deletionTimestamp === undefined;
    const id = status?.containerID;
    if (isRunning && id !== undefined && id !== usedId) return id;
    if (isRunning && id !== undefined && !hasDeleted && performance.now() - sinceMs > END_MS) {
      const uid = found?.metadata.uid;
      await api.remove(PODS, key, uid === undefined ? {} : { uid });
      hasDeleted = true;
      waiting('the server did not end with its stdin: its pod is deleted and made again');
    } else {
      const reason = reasonOf(found, status);
      if (reason !== reported) waiting(reason);
      reported = reason;
    }
    await pause(pauseMs, signal);
  }
  return undefined;
}

/** Exit code of a container that has ended; `undefined` when it runs or is unknown. */
export async function exitCodeOf(api: Api, pod: PodContainer, id: string): Promise<number | undefined> {
  const found = await api.get(PODS, { namespace: pod.namespace, name: pod.name });
  const status = found?.status?.containerStatuses?.find(({ name }) => name === pod.container);
  const ends = [status?.state?.terminated, status?.lastState?.terminated];
  return ends.find((end) => end?.containerID === id)?.exitCode;
}

function reasonOf(pod: Pod | undefined, status: Status | undefined): string {
  if (pod === undefined) return 'there is no pod yet';
  if (pod.metadata.deletionTimestamp !== undefined) return 'the pod is being deleted';
  const { waiting, terminated, running } = status?.state ?? {};
  if (waiting !== undefined) return `its container waits: ${waiting.reason ?? 'without a reason'}`;
  if (terminated !== undefined) return `its container ended with exit code ${terminated.exitCode}`;
  if (running !== undefined) return 'the server is ending';
  return `the pod is ${pod.status?.phase ?? 'Pending'}${pod.status?.reason === undefined ? '' : ` (${pod.status.reason})`}`;
}
