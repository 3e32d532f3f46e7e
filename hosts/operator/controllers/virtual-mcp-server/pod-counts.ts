import { printable } from '../../../shared/terminal.ts';
import type { ContainerStatus, Deployment, Pod } from '../../objects/built-in-kinds.ts';
import { CHECKSUM_ANNOTATION } from './pod-template.ts';

/** The pods of one VirtualMCPServer. Pods that are being deleted do not count. */
export interface PodCounts {
  /** Pods that take requests. */
  readonly ready: number;
  /** Ready pods with the wanted configuration. */
  readonly current: number;
  /** Why pods with the wanted configuration cannot start. */
  readonly failure?: string;
  /** `spec.replicas` of the Deployment is 0. */
  readonly isScaledToZero: boolean;
}

/** Counts pods; without a checksum every pod has the wanted configuration. */
export function countPods(
  pods: readonly Pod[],
  checksum: string | undefined,
  deployment: Deployment | undefined,
): PodCounts {
  const living = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const isCurrent = ({ metadata }: Pod): boolean =>
    checksum === undefined || metadata.annotations?.[CHECKSUM_ANNOTATION] === checksum;
  const ready = living.filter(isReady);
  const failures = living.filter((pod) => isCurrent(pod) && !isReady(pod)).flatMap((pod) => failureOf(pod) ?? []);
  const failure = failures.sort()[0] ?? replicaFailure(deployment);
  return {
    ready: ready.length,
    current: ready.filter(isCurrent).length,
    ...(failure === undefined ? {} : { failure }),
    isScaledToZero: deployment?.spec.replicas === 0,
  };
}

/** Whether a pod takes requests. */
export function isReady({ metadata, status }: Pod): boolean {
  return (
    metadata.deletionTimestamp === undefined &&
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true
  );
}

/** Reasons of a waiting container that time alone does not solve. Source: kubelet. */
const FAILURES: ReadonlySet<string> = new Set([
  'CrashLoopBackOff',
  'CreateContainerConfigError',
  'CreateContainerError',
  'ErrImageNeverPull',
  'ErrImagePull',
  'ImageInspectError',
  'ImagePullBackOff',
  'InvalidImageName',
  'RunContainerError',
]);
const SHOWN = 300;

function failureOf({ metadata, status }: Pod): string | undefined {
  if (status?.phase === 'Failed') return `pod ${metadata.name} failed${suffix(status.reason)}`;
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const failed = containers.find(({ state }) => FAILURES.has(state?.waiting?.reason ?? ''));
  return failed && `container ${failed.name} of pod ${metadata.name}: ${waitingText(failed)}`;
}

/** Before a container is started again, how it ended says more than that it waits. */
function waitingText({ state, lastState }: ContainerStatus): string {
  const { reason = '', message } = state?.waiting ?? {};
  return `${reason}${suffix(lastWords(lastState?.terminated?.message) ?? message)}`;
}

/** The error that ended toolmgr at the end of a log, else the last line, without control characters. */
function lastWords(log = ''): string | undefined {
  const lines = log.split('\n').map((line) => printable(line).trim());
  const said = lines.filter((line) => line !== '');
  const from = said.findLastIndex((line) => line.startsWith('toolmgr:'));
  return said.length === 0 ? undefined : said.slice(from).join('; ');
}

/** Pods that cannot be created, e.g. because of a quota. */
function replicaFailure(deployment: Deployment | undefined): string | undefined {
  const failed = deployment?.status?.conditions?.find(
    ({ type, status }) => type === 'ReplicaFailure' && status === 'True',
  );
  return failed && `pods cannot be created${suffix(failed.message)}`;
}

function suffix(text = ''): string {
  return text === '' ? '' : `: ${text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}`;
}
