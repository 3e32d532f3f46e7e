import { join } from 'node:path';
import { buildGo, copyFromModule } from './build-go.ts';
import { buildKeycloak } from './build-keycloak.ts';
import { buildNpm } from './build-npm.ts';
import { buildPython, buildVenv } from './build-python.ts';
import { buildRust } from './build-rust.ts';

/** Programs that must be installed. */
export type Needed = 'cargo' | 'python3' | 'java' | 'mvn';

/** How a third-party server is built from the versions pinned in its folder under `test/rigs`. */
export interface Recipe {
  /** Description in one line. */
  readonly what: string;
  readonly needs: readonly Needed[];
  /**
   * Builds into an empty folder, which is given its final name afterwards.
   * @throws Error when a tool fails; the message ends with what the tool printed
   */
  build(from: string, into: string): Promise<void>;
}

const COMPONENT = 'k8s.io/component-base/version';
/** The version that the API server reports: clients parse it. The module version is in `test/rigs/kube/go.mod`. */
const KUBE_VERSION = {
  [`${COMPONENT}.gitVersion`]: 'v1.36.3',
  [`${COMPONENT}.gitMajor`]: '1',
  [`${COMPONENT}.gitMinor`]: '36',
};

const KWOK_STAGES = [
  'kustomize/stage/node/fast/node-initialize.yaml',
  'kustomize/stage/node/heartbeat-with-lease/node-heartbeat-with-lease.yaml',
  'kustomize/stage/pod/fast/pod-ready.yaml',
  'kustomize/stage/pod/fast/pod-complete.yaml',
  'kustomize/stage/pod/fast/pod-delete.yaml',
];

const SERVER = 'examples/servers/everything-server';

/** Recipes by name of the rig, which is the name of its folder under `test/rigs`. */
export const RECIPES = {
  'go-sdk': {
    what: 'the conformance server of the Go SDK',
    needs: [],
    build: (from, into) =>
      buildGo('github.com/modelcontextprotocol/go-sdk/conformance/everything-server', from, join(into, 'server')),
  },
  'mcp-go': {
    what: 'the conformance server of mcp-go',
    needs: [],
    build: (from, into) => buildGo('github.com/mark3labs/mcp-go/examples/conformance', from, join(into, 'server')),
  },
  'mcp-python-1': {
    what: 'the Everything server of the Python SDK 1.x, which speaks 2025-11-25 only',
    needs: ['python3'],
    build: (from, into) => buildPython(SERVER, from, into),
  },
  'mcp-python-2': {
    what: 'the Everything server of the Python SDK 2.x',
    needs: ['python3'],
    build: (from, into) => buildPython(SERVER, from, into),
  },
  fastmcp: {
    what: 'the conformance server of fastmcp',
    needs: ['python3'],
    build: (from, into) => buildPython('tests/conformance', from, into),
  },
  'rust-sdk': {
    what: 'our own server with the Rust SDK',
    needs: ['cargo'],
    build: buildRust,
  },
  kube: {
    what: 'Kubernetes: etcd, API server, controllers, scheduler, kubelet, kube-proxy and kubectl in one program',
    needs: [],
    build: (from, into) => buildGo('.', from, join(into, 'kube'), KUBE_VERSION),
  },
  kwok: {
    what: 'kwok, which simulates nodes and pods',
    needs: [],
    build: async (from, into) => {
      await buildGo('sigs.k8s.io/kwok/cmd/kwok', from, join(into, 'kwok'));
      await copyFromModule('sigs.k8s.io/kwok', from, KWOK_STAGES, join(into, 'stages.yaml'));
    },
  },
  helm: {
    what: 'Helm',
    needs: [],
    build: (from, into) => buildGo('helm.sh/helm/v4/cmd/helm', from, join(into, 'helm')),
  },
  actionlint: {
    what: 'actionlint, which checks the workflow files of CI',
    needs: [],
    build: (from, into) => buildGo('github.com/rhysd/actionlint/cmd/actionlint', from, join(into, 'actionlint')),
  },
  coredns: {
    what: 'CoreDNS, the name server of a cluster',
    needs: [],
    build: (from, into) => buildGo('github.com/coredns/coredns', from, join(into, 'coredns')),
  },
  'mcp-registry': {
    what: 'the server of the official MCP registry, with its API description and sample data; it needs PostgreSQL to run',
    needs: [],
    build: async (from, into) => {
      const module = 'github.com/modelcontextprotocol/registry';
      await buildGo(`${module}/cmd/registry`, from, join(into, 'registry'));
      await copyFromModule(module, from, ['docs/reference/api/openapi.yaml'], join(into, 'openapi.yaml'));
      await copyFromModule(module, from, ['data/seed.json'], join(into, 'seed.json'));
    },
  },
  oci: {
    what: 'a registry with the referrers API, and crane, a client of registries',
    needs: [],
    build: async (from, into) => {
      await buildGo('.', from, join(into, 'registry'));
      await buildGo('github.com/google/go-containerregistry/cmd/crane', from, join(into, 'crane'));
    },
  },
  moto: {
    what: 'moto, a server with the API of AWS STS that verifies signatures',
    needs: ['python3'],
    build: async (from, into) => void (await buildVenv(from, into)),
  },
  schemathesis: {
    what: 'schemathesis, which tests an HTTP API against its OpenAPI document',
    needs: ['python3'],
    build: async (from, into) => void (await buildVenv(from, into)),
  },
  keycloak: {
    what: 'Keycloak, an identity provider',
    needs: ['java', 'mvn', 'python3'],
    build: buildKeycloak,
  },
  packaging: {
    what: 'a registry of npm packages (verdaccio), publint, attw, TypeScript 5.9 and the frameworks that embed the core',
    needs: [],
    build: buildNpm,
  },
  nodes: {
    what: 'the oldest and the newest Node that the packages run on, and one that is too old; for Linux on x64',
    needs: [],
    build: buildNpm,
  },
  release: {
    what: 'the tools of a release: changesets (versions and changelog) and postject (single executable)',
    needs: [],
    build: buildNpm,
  },
  mutation: {
    what: 'Stryker, which makes small changes of the sources that tests must notice',
    needs: [],
    build: buildNpm,
  },
  site: {
    what: 'VitePress, the generator of the documentation site',
    needs: [],
    build: buildNpm,
  },
} as const satisfies Readonly<Record<string, Recipe>>;

/** Name of a rig. */
export type RigName = keyof typeof RECIPES;

export const RIG_NAMES = Object.keys(RECIPES) as readonly RigName[];

/** Name of a rig that is an MCP server. */
export type ServerRig = Exclude<RigName, (typeof OTHERS)[number]>;

const OTHERS = [
  'keycloak',
  'moto',
  'schemathesis',
  'kube',
  'kwok',
  'helm',
  'actionlint',
  'coredns',
  'mcp-registry',
  'oci',
  'packaging',
  'nodes',
  'release',
  'mutation',
  'site',
] as const;

export const SERVER_RIGS: readonly ServerRig[] = RIG_NAMES.filter(isServer);

function isServer(name: RigName): name is ServerRig {
  return !(OTHERS as readonly RigName[]).includes(name);
}
