import type { Era } from '@toolmgr/core';
import { SERVER_RIGS, type ServerRig } from '../../scripts/rigs/recipes.ts';
import { foreignServer } from '../support/foreign-servers.ts';
import { gatewayBefore } from './gateway.ts';
import { type Revision, runServer, type ScenarioOutcome, scoredScenarios } from './suite.ts';

/** One third-party server and one requirement set: direct, and through the gateway. */
export interface ForeignCell {
  readonly server: ServerRig;
  readonly revision: Revision;
  /** Scored scenarios without a failed check. */
  readonly direct: readonly string[];
  readonly through: readonly string[];
  /** Scored scenarios that pass direct but not through the gateway, with their failed checks. */
  readonly lost: Readonly<Record<string, readonly string[]>>;
  readonly total: number;
}

/** The servers with built rigs and their revisions. */
export function foreignCells(): readonly (readonly [ServerRig, Revision])[] {
  return SERVER_RIGS.flatMap((name) => {
    const server = foreignServer(name);
    return 'missing' in server ? [] : server.eras.map((era) => [name, era] as const);
  });
}

/** Runs the set direct and through a gateway that detects the era. Scenarios that only fail with the gateway are repeated. */
export async function runForeign(name: ServerRig, revision: Era): Promise<ForeignCell> {
  const server = foreignServer(name);
  if ('missing' in server) throw new Error(server.missing);
  const scored = scoredScenarios(revision, 'server');
  await using first = await server.start(revision);
  await using second = await server.start(revision);
  await using gateway = await gatewayBefore({ transport: 'streamable-http', url: second.url, era: 'auto' });
  const direct = passedIn((await runServer(first.url, revision)).outcomes, scored);
  const { outcomes } = await runServer(gateway.url, revision);
  const found = new Map(outcomes.map((outcome) => [outcome.scenario, outcome]));
  const isLost = (scenario: string): boolean => found.get(scenario)?.failed.length !== 0;
  for (const scenario of direct.filter(isLost)) {
    for (const again of (await runServer(gateway.url, revision, scenario)).outcomes) found.set(again.scenario, again);
  }
  const lost = direct.filter(isLost).map((scenario) => [scenario, found.get(scenario)?.failed ?? ['did not run']]);
  return {
    server: name,
    revision,
    direct,
    through: passedIn([...found.values()], scored),
    lost: Object.fromEntries(lost),
    total: scored.length,
  };
}

function passedIn(outcomes: readonly ScenarioOutcome[], scored: readonly string[]): readonly string[] {
  const passed = new Set(outcomes.filter(({ failed }) => failed.length === 0).map(({ scenario }) => scenario));
  return scored.filter((scenario) => passed.has(scenario));
}
