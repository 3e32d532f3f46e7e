import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { proves } from '../support/proves.ts';
import { CELLS, type Cell, type CellOutcome, type CellWorld, openCells, wantedOf } from './cells.ts';
import { authScenarios, CLIENT_SCENARIOS } from './client-scenarios.ts';
import { type Drivers, openDrivers } from './drivers.ts';
import { faultsIn, readExpected, strayEntries } from './expected.ts';
import { runClient, type ScenarioOutcome, scoredScenarios } from './suite.ts';

const SET_MS = 120_000;
const SCENARIO_MS = 60_000;

const expected = readExpected();
let world: CellWorld;
beforeAll(async () => {
  world = await openCells();
}, SET_MS);
afterAll(() => world?.[Symbol.asyncDispose]());

// what the fixture server fails, the cells behind a gateway fail too
if (process.env.PROOF_LONG === '1') {
  describe('the fixture server', () => {
    for (const cell of [CELLS['direct-legacy'], CELLS['direct-modern']]) {
      it(`passes the ${cell.revision} set without a gateway`, { timeout: SET_MS }, async () => {
        expectAll(await world.run(cell, expected));
      });
    }
  });
}

describe('a 2025-11-25 client and a 2025-11-25 backend', () => {
  const passed = cellOf(CELLS['legacy-to-legacy']);
  proves('choice.bridge.legacy-to-legacy', 'pass the whole set through the gateway', () => expectAll(passed.all()));
  proves('ask.legacy.completions', 'complete arguments', () => passed.expect('completion-complete'));
  proves('ask.legacy.progress', 'tell progress', () => passed.expect('tools-call-with-progress'));
  proves('ask.legacy.logging', 'send logs at a level', () =>
    passed.expect('logging-set-level', 'tools-call-with-logging'),
  );
  proves('ask.legacy.sampling', 'sample', () => passed.expect('tools-call-sampling'));
  proves('ask.legacy.elicitation', 'elicit, with defaults and choices', () =>
    passed.expect('tools-call-elicitation', 'elicitation-sep1034-defaults', 'elicitation-sep1330-enums'),
  );
  proves('ask.legacy.prompts', 'list and get prompts', () =>
    passed.expect(
      'prompts-list',
      'prompts-get-simple',
      'prompts-get-with-args',
      'prompts-get-embedded-resource',
      'prompts-get-with-image',
    ),
  );
  proves('ask.legacy.resources', 'list and read resources and templates', () =>
    passed.expect('resources-list', 'resources-read-text', 'resources-read-binary', 'resources-templates-read'),
  );
  proves('ask.legacy.subscribe', 'subscribe and unsubscribe', () =>
    passed.expect('resources-subscribe', 'resources-unsubscribe'),
  );
  proves('choice.session.delete', 'end a session by DELETE', () => passed.expect('server-session-lifecycle'));
  proves('choice.session.priming-event', 'begin a stream with an event to resume from', () =>
    passed.expect('server-sse-polling'),
  );
});

describe('a 2026-07-28 client and a 2026-07-28 backend', () => {
  const passed = cellOf(CELLS['modern-to-modern']);
  proves('choice.bridge.modern-to-modern', 'pass the whole set through the gateway', () => expectAll(passed.all()));
  proves(['ask.modern.envelope', 'ask.modern.discover', 'ask.modern.listen'], 'keep the stateless contract', () =>
    passed.expect('server-stateless', 'http-header-validation'),
  );
  proves('choice.wire.param-header-mismatch', 'check mirrored arguments', () =>
    passed.expect('http-custom-header-server-validation'),
  );
  proves('ask.modern.cache-hints', 'carry cache hints', () => passed.expect('caching'));
  proves('choice.error.resource-not-found-modern', 'name a resource that is not there', () =>
    passed.expect('sep-2164-resource-not-found'),
  );
  proves(['ask.modern.input-required', 'ask.modern.request-state'], 'ask for input in rounds', () =>
    passed.expect(...scoredScenarios('2026-07-28', 'server').filter((name) => name.startsWith('input-required-'))),
  );
  proves('choice.fidelity.schemas', 'keep every keyword of a schema', () => passed.expect('json-schema-2020-12'));
});

describe('client and backend of one revision, over stdio', () => {
  for (const cell of [CELLS['legacy-to-legacy-stdio'], CELLS['modern-to-modern-stdio']]) {
    proves(
      ['ask.backend.stdio', 'ask.backend.either-revision'],
      `pass the whole set of ${cell.revision} through the gateway`,
      async () => expectAll(await world.run(cell, expected)),
      SET_MS,
    );
  }
});

describe('a client of one revision and a backend of the other', () => {
  proves(
    'choice.bridge.legacy-to-modern',
    'pass the 2025-11-25 set with a modern backend',
    async () => expectAll(await world.run(CELLS['legacy-to-modern'], expected)),
    SET_MS,
  );
  proves(
    'choice.bridge.modern-to-legacy',
    'pass the 2026-07-28 set with a legacy backend, except the listed failures with their reasons',
    async () => expectAll(await world.run(CELLS['modern-to-legacy'], expected)),
    SET_MS,
  );
});

describe('the gateway as a client of its backends, and the login of toolmgr run', () => {
  const LEGACY = '2025-11-25';
  const MODERN = '2026-07-28';
  let drivers: Drivers;
  let modern: ReadonlyMap<string, ScenarioOutcome>;
  let printedOfAll: string;
  beforeAll(async () => {
    drivers = await openDrivers();
    const { outcomes, printed } = await runClient(drivers, MODERN);
    modern = new Map(outcomes.map((outcome) => [outcome.scenario, outcome]));
    printedOfAll = printed.slice(-2_000);
  }, SET_MS);
  afterAll(() => drivers?.[Symbol.asyncDispose]());

  const expectMet = (outcome: ScenarioOutcome | undefined, printed: string): void => {
    expect(outcome, printed).toMatchObject({ failed: [], warned: [] });
    expect(outcome?.passed, printed).toBeGreaterThan(0);
  };
  for (const scenario of CLIENT_SCENARIOS[LEGACY]) {
    it(`passes ${scenario} of ${LEGACY}`, { timeout: SCENARIO_MS }, async () => {
      const { code, outcomes, printed } = await runClient(drivers, LEGACY, scenario);
      expectMet(outcomes[0], printed.slice(-2_000));
      expect(code, printed.slice(-2_000)).toBe(0);
    });
  }
  for (const scenario of [...CLIENT_SCENARIOS[MODERN], ...authScenarios(MODERN)]) {
    it(`passes ${scenario} of ${MODERN}`, { timeout: SCENARIO_MS }, async () => {
      const again = await (modern.get(scenario)?.failed.length === 0
        ? undefined
        : runClient(drivers, MODERN, scenario));
      expectMet(again?.outcomes[0] ?? modern.get(scenario), again?.printed.slice(-2_000) ?? printedOfAll);
    });
  }
  it('passes all client scenarios: those of authorization of 2025-11-25 are among those of 2026-07-28', () => {
    for (const revision of [LEGACY, MODERN] as const) {
      const left = scoredScenarios(revision, 'client').filter((name) => !CLIENT_SCENARIOS[revision].includes(name));
      expect(left).toEqual(authScenarios(revision));
    }
    expect(authScenarios(MODERN)).toEqual(expect.arrayContaining([...authScenarios(LEGACY)]));
  });
});

describe('the list of expected failures', () => {
  it('names only existing scenarios', () => {
    const revisionOf = (name: string): Cell | undefined =>
      Object.values<Cell>(CELLS).find((cell) => cell.name === name);
    const wanted = (name: string): readonly string[] => {
      const cell = revisionOf(name);
      return cell === undefined ? [] : wantedOf(cell.revision);
    };
    expect(strayEntries(expected, wanted)).toEqual([]);
    expect(strayEntries({ nowhere: { ping: {} } }, wanted)).toHaveLength(1);
  });

  it('reports a failure and a warning without an entry, an entry without a failure and a scenario that did not run', () => {
    const outcomes = new Map([
      ['a', { scenario: 'a', passed: 1, failed: ['x: broke', 'y: broke'], warned: ['w: may break'] }],
    ]);
    const reason = 'because of a reason';
    expect(faultsIn('cell', ['a', 'b'], outcomes, { cell: { a: { y: reason, z: reason } } })).toEqual([
      'cell: a: x: broke',
      'cell: a: w: may break',
      'cell: a: z is listed in expected.yml and is met',
      'cell: b did not run',
    ]);
  });
});

/** Runs a cell once for the tests of a describe block. */
function cellOf(cell: Cell) {
  let outcome: CellOutcome;
  beforeAll(async () => {
    outcome = await world.run(cell, expected);
  }, SET_MS);
  return {
    all: () => outcome,
    expect: (...scenarios: readonly string[]): void => {
      expect(scenarios.length).toBeGreaterThan(0);
      expect(faultsIn(cell.name, scenarios, outcome.outcomes, expected)).toEqual([]);
      for (const scenario of scenarios) expect(outcome.outcomes.get(scenario)?.passed).toBeGreaterThan(0);
    },
  };
}

function expectAll({ cell, outcomes, isConformant, again, printed }: CellOutcome): void {
  if (again.length > 0) console.warn(`${cell.name}: run twice: ${again.join(', ')}`);
  expect(faultsIn(cell.name, wantedOf(cell.revision), outcomes, expected)).toEqual([]);
  // the suite's own result, when no failure is expected and no scenario was repeated
  if (expected[cell.name] === undefined && again.length === 0) expect(isConformant, printed.slice(-2000)).toBe(true);
}
