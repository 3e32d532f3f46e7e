import type { ClusterReader } from '@toolmgr/plugins/kit/kubernetes';

/** The names of config maps that are read here. */
interface KubernetesSection {
  readonly backends?: string;
}

/** `kubernetes`: with `backends` the pod follows the backends that the operator resolves. */
export const contract: ClusterReader = {
  facts: ({ backends }: KubernetesSection) => (backends === undefined ? {} : { discovers: true }),
  fromContract(section: KubernetesSection | undefined, _facts, use) {
    if (section?.backends === undefined) return {};
    return { plugins: [{ use: 'outgoing-auth/forward-headers' }, { use, with: section }] };
  },
  problems({ backends }: KubernetesSection, { backends: listed }) {
    if (backends === undefined || listed.length === 0) return [];
    const message = 'discovered backends and listed ones exclude each other; remove the section backends of the file';
    return [{ path: ['backends'], message }];
  },
  fromCluster: async () => ({ forbidden: 'the operator writes it for the pods' }),
};
