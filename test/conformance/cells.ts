import { join } from 'node:path';
import { type ConformanceServer, startConformanceServer } from '../support/conformance-server.ts';
import { type Expected, faultsIn } from './expected.ts';
import { gatewayBefore, type ServedGateway } from './gateway.ts';
import { type Revision, runServer, type ScenarioOutcome, scoredScenarios } from './suite.ts';

/** The gateways of the world. */
export type Between = 'legacy over HTTP' | 'modern over HTTP' | 'legacy over stdio' | 'modern over stdio';

/** A requirement set and its target. */
export interface Cell {
  readonly name: string;
  readonly revision: Revision;
  /** Revision and transport between gateway and backend; none when direct. */
  readonly backend: 'direct' | Between;
}

/** The baselines, the cells of one revision, the mixed ones. */
export const CELLS = {
  'direct-legacy': { name: 'direct-legacy', revision: '2025-11-25', backend: 'direct' },
  'direct-modern': { name: 'direct-modern', revision: '2026-07-28', backend: 'direct' },
  'legacy-to-legacy': { name: 'legacy-to-legacy', revision: '2025-11-25', backend: 'legacy over HTTP' },
  'modern-to-modern': { name: 'modern-to-modern', revision: '2026-07-28', backend: 'modern over HTTP' },
  'legacy-to-legacy-stdio': { name: 'legacy-to-legacy-stdio', revision: '2025-11-25', backend: 'legacy over stdio' },
  'modern-to-modern-stdio': { name: 'modern-to-modern-stdio', revision: '2026-07-28', backend: 'modern over stdio' },
  'legacy-to-modern': { name: 'legacy-to-modern', revision: '2025-11-25', backend: 'modern over HTTP' },
  'modern-to-legacy': { name: 'modern-to-legacy', revision: '2026-07-28', backend: 'legacy over HTTP' },
} as const satisfies Record<string, Cell>;

/** Unscored scenarios that must pass too. */
const BEYOND: Readonly<Record<Revision, readonly string[]>> = {
  '2025-11-25': ['json-schema-2020-12', 'server-session-lifecycle', 'server-sse-polling'],
  '2026-07-28': ['json-schema-2020-12', 'http-header-validation', 'http-custom-header-server-validation'],
};

/** Scenarios of a cell that must pass: the scored and the additional ones. */
export function wantedOf(revision: Revision): readonly string[] {
  return [...scoredScenarios(revision, 'server'), ...BEYOND[revision]];
}

/** Result of a cell. */
export interface CellOutcome {
  readonly cell: Cell;
  /** Whether the suite reported success. */
  readonly isConformant: boolean;
  readonly outcomes: ReadonlyMap<string, ScenarioOutcome>;
  /** Scenarios that failed within the set and were repeated alone. */
  readonly again: readonly string[];
  readonly printed: string;
}

/** The fixture server and a gateway for each backend revision. */
export interface CellWorld extends AsyncDisposable {
  run(cell: Cell, expected: Expected): Promise<CellOutcome>;
}

export async function openCells(): Promise<CellWorld> {
  const server: ConformanceServer = await startConformanceServer();
  const http = { transport: 'streamable-http', url: server.url } as const;
  const program = join(import.meta.dirname, 'fixture/stdio.ts');
  const command = { file: process.execPath, args: ['--conditions=development', program] };
  const stdio = { transport: 'stdio', command } as const;
  const gateways: Readonly<Record<Between, ServedGateway>> = {
    'legacy over HTTP': await gatewayBefore({ ...http, era: 'legacy' }),
    'modern over HTTP': await gatewayBefore({ ...http, era: 'modern' }),
    'legacy over stdio': await gatewayBefore({ ...stdio, era: 'legacy' }),
    'modern over stdio': await gatewayBefore({ ...stdio, era: 'modern' }),
  };
  return {
    run(cell, expected) {
      const { url } = cell.backend === 'direct' ? server : gateways[cell.backend];
      return runCell(cell, url, expected);
    },
    async [Symbol.asyncDispose]() {
      for (const gateway of Object.values(gateways)) await gateway[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/**
 * Runs the set. Some scenarios wait only half a second for a stream, which is too short on a busy machine. So a failed
 * scenario is repeated alone, and the second result counts.
 */
async function runCell(cell: Cell, url: string, expected: Expected): Promise<CellOutcome> {
  const { code, outcomes, printed } = await runServer(url, cell.revision);
  const found = new Map(outcomes.map((outcome) => [outcome.scenario, outcome]));
  const again = wantedOf(cell.revision).filter(
    (scenario) => faultsIn(cell.name, [scenario], found, expected).length > 0,
  );
  for (const scenario of again) {
    const second = await runServer(url, cell.revision, scenario);
    for (const outcome of second.outcomes) found.set(outcome.scenario, outcome);
  }
  return { cell, isConformant: code === 0, outcomes: found, again, printed };
}
