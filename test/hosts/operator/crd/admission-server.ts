import { KINDS } from '../../../../hosts/operator/kinds/index.ts';
import type { KubeClient } from '../../../support/kube-client.ts';
import { newNamespace, sharedKube } from '../../../support/shared-kube.ts';

/** What the API server says to a new object. */
export interface Answer {
  readonly status: number;
  /** Fields at fault with the messages of the API server. */
  readonly causes: readonly { readonly field?: string; readonly message: string }[];
  readonly body: Readonly<Record<string, unknown>>;
}

/** A namespace of the API server with the kinds. */
export interface AdmissionServer {
  readonly kube: KubeClient;
  readonly namespace: string;
  /** Path of the objects of a kind. */
  pathOf(kind: string): string;
  /** Sends a new object; without other `query` nothing is stored and unknown fields are refused. */
  create(kind: string, spec: unknown, query?: string): Promise<Answer>;
}

/** A new namespace of the API server that all files share. */
export async function admissionServer(): Promise<AdmissionServer> {
  const kube = await sharedKube();
  const namespace = await newNamespace(kube);
  const pathOf = (kind: string): string => {
    const plural = KINDS.find((each) => each.kind === kind)?.plural;
    return `/apis/toolmgr.dev/v1beta1/namespaces/${namespace}/${plural}`;
  };
  return {
    ...{ kube, namespace, pathOf },
    async create(kind, spec, query = 'dryRun=All&fieldValidation=Strict') {
      const { status, body } = await kube.request('POST', `${pathOf(kind)}?${query}`, objectOf(kind, spec));
      const answer = body as Readonly<Record<string, unknown>>;
      const details = answer.details as { causes?: Answer['causes'] } | undefined;
      return { status, causes: details?.causes ?? [], body: answer };
    },
  };
}

/** An object of a kind, as JSON has it. */
export function objectOf(kind: string, spec: unknown): object {
  return JSON.parse(JSON.stringify({ apiVersion: 'toolmgr.dev/v1beta1', kind, metadata: { name: 'a' }, spec }));
}
