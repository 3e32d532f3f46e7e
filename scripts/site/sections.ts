/** A section of the site: a folder of `docs`, or `plugins`. */
export interface SiteSection {
  readonly folder: string;
  readonly title: string;
  /** Pages that come first, in this order, without `.md`. */
  readonly first: readonly string[];
  /** Closed in the side bar until it is opened. */
  readonly isClosed: boolean;
}

export const SECTIONS: readonly SiteSection[] = [
  {
    folder: 'start',
    title: 'Getting started',
    first: ['clone', 'install', 'image', 'executable', 'embed', 'cluster'],
    isClosed: false,
  },
  {
    folder: 'guides',
    title: 'Guides',
    first: [
      'one-endpoint',
      'team-sign-in',
      'run',
      'aggregation',
      'sign-in',
      'policy',
      'policy-server',
      'limits',
      'composite-tools',
      'tool-pinning',
      'result-limits',
      'data-protection',
      'code-mode',
      'optimizer',
      'observability',
    ],
    isClosed: false,
  },
  {
    folder: 'operations',
    title: 'Operations',
    first: ['deployment', 'kubernetes', 'kubernetes-operation', 'kubernetes-autoscaling', 'kubernetes-plugins'],
    isClosed: false,
  },
  {
    folder: 'reference',
    title: 'Reference',
    first: ['vmcp', 'environment', 'commands', 'errors', 'plugins', 'hooks', 'slots'],
    isClosed: false,
  },
  { folder: 'plugins', title: 'Plugins', first: [], isClosed: true },
  { folder: 'project', title: 'Project', first: ['comparison', 'architecture', 'benchmarks'], isClosed: true },
  { folder: 'decisions', title: 'Decisions', first: [], isClosed: true },
];
