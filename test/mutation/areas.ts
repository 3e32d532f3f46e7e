/** Sources whose mutants the tests of the same area must notice; patterns from the project's root. */
export interface Area {
  readonly mutate: readonly string[];
  readonly tests: readonly string[];
}

/** The areas of `npm run mutation`. */
export const AREAS = {
  core: {
    mutate: ['core/pipeline/**/*.ts', 'core/catalog/**/*.ts'],
    tests: ['test/core/{pipeline,catalog}/**/*.test.ts'],
  },
  authorization: { mutate: ['plugins/authorization/**/*.ts'], tests: ['test/plugins/authorization/**/*.test.ts'] },
  'auth-server': { mutate: ['plugins/auth-server/**/*.ts'], tests: ['test/plugins/auth-server/**/*.test.ts'] },
  secrets: { mutate: ['plugins/secrets/**/*.ts'], tests: ['test/plugins/secrets/**/*.test.ts'] },
  manager: { mutate: ['hosts/manager/**/*.ts'], tests: ['test/hosts/manager/**/*.test.ts'] },
  run: { mutate: ['hosts/run/**/*.ts'], tests: ['test/hosts/run/**/*.test.ts'] },
  rest: {
    mutate: [
      '{core,plugins,hosts}/**/*.ts',
      '!core/{pipeline,catalog}/**',
      '!plugins/{authorization,auth-server,secrets}/**',
      '!hosts/{manager,run}/**',
    ],
    tests: ['test/{core,plugins,hosts}/**/*.test.ts'],
  },
} as const satisfies Readonly<Record<string, Area>>;

/** Name of an area. */
export type AreaName = keyof typeof AREAS;
