import { KINDS } from '../../../../../hosts/vmcp/operator/kinds/index.ts';
import { allCrds } from '../../../../support/crds.ts';
import { type KubeCluster, startKube } from '../../../../support/kube.ts';

/** What the API server says to a new object. */
export interface Answer {
  readonly status: number;
  /** Fields at fault with the messages of the API server. */
  readonly causes: readonly { readonly field?: string; readonly message: string }[];
  readonly body: Readonly<Record<string, unknown>>;
}

/** An API server with the kinds. */
export interface AdmissionServer {
  readonly kube: KubeCluster;
  /** Sends a new object; without other `query` nothing is stored and unknown fields are refused. */
  create(kind: string, spec: unknown, query?: string): Promise<Answer>;
}

/** Starts an API server that has the kinds. */
export async function startAdmissionServer(): Promise<AdmissionServer> {
  const kube = await startKube({ controllers: false, crds: allCrds() });
  await untilServed(kube);
  return {
    kube,
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

/** Path of the objects of a kind. */
export function pathOf(kind: string): string {
  const plural = KINDS.find((each) => each.kind === kind)?.plural;
  return `/apis/toolmgr.dev/v1beta1/namespaces/default/${plural}`;
}

/** The first requests for a new kind may be refused for about 2 s. */
async function untilServed(kube: KubeCluster): Promise<void> {
  for (const { kind } of KINDS) {
    for (let left = 200; left > 0; left -= 1) {
      if ((await kube.request('GET', pathOf(kind))).status === 200) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
