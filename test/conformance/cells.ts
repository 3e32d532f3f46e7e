import { type ConformanceServer, startConformanceServer } from '../support/conformance-server.ts';
import { type Expected, faultsIn } from './expected.ts';
import { gatewayBefore, type ServedGateway } from './gateway.ts';
import { type Revision, runServer, type ScenarioOutcome, scoredScenarios } from './suite.ts';

/** A requirement set and what it is run against. */
export interface Cell {
  readonly name: string;
  readonly revision: Revision;
  /** The revision spoken to the backend; nothing between suite and server when direct. */
  readonly backend: 'direct' | 'legacy' | 'modern';
}

/** The baselines, the two cells of one revision, the two mixed ones. */
export const CELLS = {
  'direct-legacy': { name: 'direct-legacy', revision: '2025-11-25', backend: 'direct' },
  'direct-modern': { name: 'direct-modern', revision: '2026-07-28', backend: 'direct' },
  'legacy-to-legacy': { name: 'legacy-to-legacy', revision: '2025-11-25', backend: 'legacy' },
  'modern-to-modern': { name: 'modern-to-modern', revision: '2026-07-28', backend: 'modern' },
  'legacy-to-modern': { name: 'legacy-to-modern', revision: '2025-11-25', backend: 'modern' },
  'modern-to-legacy': { name: 'modern-to-legacy', revision: '2026-07-28', backend: 'legacy' },
} as const satisfies Record<string, Cell>;

/** Scenarios that must pass as well, though the suite does not score them. */
const BEYOND: Readonly<Record<Revision, readonly string[]>> = {
  '2025-11-25': ['json-schema-2020-12', 'server-session-lifecycle', 'server-sse-polling'],
  '2026-07-28': ['json-schema-2020-12', 'http-header-validation', 'http-custom-header-server-validation'],
};

/** Scenarios of a cell that must pass: the scored ones and those beyond. */
export function wantedOf(revision: Revision): readonly string[] {
  return [...scoredScenarios(revision, 'server'), ...BEYOND[revision]];
}

/** What a cell gave. */
export interface CellOutcome {
  readonly cell: Cell;
  /** Whether the suite itself said that all is well. */
  readonly isConformant: boolean;
  readonly outcomes: ReadonlyMap<string, ScenarioOutcome>;
  /** Scenarios that failed within the set and were run once more, alone. */
  readonly again: readonly string[];
  readonly printed: string;
}

/** The fixture, a gateway before it for each backend revision, and the way to run a cell. */
export interface CellWorld extends AsyncDisposable {
  run(cell: Cell, expected: Expected): Promise<CellOutcome>;
}

export async function openCells(): Promise<CellWorld> {
  const server: ConformanceServer = await startConformanceServer();
  const gateways: Readonly<Record<'legacy' | 'modern', ServedGateway>> = {
    legacy: await gatewayBefore(server.url, 'legacy'),
    modern: await gatewayBefore(server.url, 'modern'),
  };
  return {
    run(cell, expected) {
      const { url } = cell.backend === 'direct' ? server : gateways[cell.backend];
      return runCell(cell, url, expected);
    },
    async [Symbol.asyncDispose]() {
      await gateways.legacy[Symbol.asyncDispose]();
      await gateways.modern[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/**
 * Runs the set. Some scenarios look at a stream for half a second only, which a busy machine may miss: what fails is
 * run once more, alone, and the second answer counts.
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
