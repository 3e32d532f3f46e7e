// Runs the whole suite and prints the results: `node --conditions=development test/conformance/run.ts`, with
// `--write` into docs/project/conformance.json and the tables of docs/project/conformance.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { CELLS, type CellOutcome, openCells, wantedOf } from './cells.ts';
import { CLIENT_SCENARIOS } from './client-scenarios.ts';
import { openDrivers } from './drivers.ts';
import { faultsIn, readExpected } from './expected.ts';
import { type Revision, runClient, type ScenarioOutcome, scoredScenarios, suiteVersion } from './suite.ts';

const ROOT = join(import.meta.dirname, '../..');
const SUMMARY = join(ROOT, 'docs/project/conformance.json');
const PAGE = join(ROOT, 'docs/project/conformance.md');

const report = { ...surroundings(), server: await serverCells(), client: await clientScenarios() };
const tables = tablesOf(report);
console.log(tables);
if (process.argv.includes('--write')) {
  writeFileSync(SUMMARY, `${JSON.stringify(report, undefined, 2)}\n`);
  const marked = /(<!-- results -->\n)[\s\S]*(<!-- end of results -->)/;
  writeFileSync(
    PAGE,
    readFileSync(PAGE, 'utf8').replace(marked, (_, open, close) => `${open}\n${tables}\n${close}`),
  );
}
const faults = report.server.flatMap((cell) => cell.faults);
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 && report.client.every(({ failed }) => failed.length === 0) ? 0 : 1;

type Report = typeof report;

function surroundings() {
  const [cpu] = cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    node: process.version,
    versions: {
      '@modelcontextprotocol/conformance': suiteVersion(),
      '@modelcontextprotocol/server': versionOf('server'),
      '@modelcontextprotocol/client': versionOf('client'),
      '@modelcontextprotocol/node': versionOf('node'),
    },
  };
}

function versionOf(name: string): string {
  return JSON.parse(readFileSync(join(ROOT, 'node_modules/@modelcontextprotocol', name, 'package.json'), 'utf8'))
    .version;
}

async function serverCells() {
  const expected = readExpected();
  await using world = await openCells();
  const cells = [];
  for (const cell of Object.values(CELLS)) {
    const found = await world.run(cell, expected);
    const faults = faultsIn(cell.name, wantedOf(cell.revision), found.outcomes, expected);
    cells.push({
      ...cell,
      faults,
      unmet: unmetOf(found),
      again: found.again,
      ...countsOf(found),
      scenarios: scenariosOf(found),
    });
  }
  return cells;
}

function countsOf({ cell, outcomes }: CellOutcome) {
  const scored = scoredScenarios(cell.revision, 'server');
  const isPassed = (name: string): boolean => outcomes.get(name)?.failed.length === 0;
  const beyond = wantedOf(cell.revision).filter((name) => !scored.includes(name));
  return {
    scored: { passed: scored.filter(isPassed).length, total: scored.length },
    beyond: { passed: beyond.filter(isPassed).length, total: beyond.length },
    checks: checksOf(wantedOf(cell.revision).flatMap((name) => outcomes.get(name) ?? [])),
  };
}

function checksOf(outcomes: readonly ScenarioOutcome[]) {
  const sum = (count: (outcome: ScenarioOutcome) => number): number =>
    outcomes.reduce((total, outcome) => total + count(outcome), 0);
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed.length),
    warned: sum(({ warned }) => warned.length),
  };
}

/** Failed checks with their messages. */
function unmetOf({ cell, outcomes }: CellOutcome): readonly string[] {
  return wantedOf(cell.revision).flatMap((name) => {
    const { failed = [], warned = [] } = outcomes.get(name) ?? {};
    return [...failed, ...warned].map((check) => `${name}: ${check}`);
  });
}

/** Checks by scenario, in the order of the requirement set, those of extensions last: passed, or passed and failed. */
function scenariosOf({ cell, outcomes }: CellOutcome): Readonly<Record<string, string>> {
  const wanted = wantedOf(cell.revision);
  const others = [...outcomes.keys()].filter((name) => !wanted.includes(name)).sort();
  return Object.fromEntries([...wanted, ...others].map((name) => [name, briefly(outcomes.get(name))]));
}

function briefly(outcome: ScenarioOutcome | undefined): string {
  if (outcome === undefined) return 'did not run';
  const { passed, failed, warned } = outcome;
  const parts = [`${passed} passed`, `${failed.length} failed`, `${warned.length} warned`];
  return parts.filter((part) => !part.startsWith('0 ')).join(', ') || 'nothing to check';
}

async function clientScenarios() {
  const found = [];
  await using drivers = await openDrivers();
  for (const [revision, scenarios] of Object.entries(CLIENT_SCENARIOS) as [Revision, readonly string[]][]) {
    for (const scenario of scenarios) {
      const { outcomes } = await runClient(drivers, revision, scenario);
      found.push(...outcomes.map(({ scenario, passed, failed }) => ({ revision, scenario, passed, failed })));
    }
  }
  return found;
}

function tablesOf({ date, machine, node, versions, server, client }: Report): string {
  const about = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    `${date}, ${machine}, Node ${node}; ${about.join(', ')}.`,
    '',
    '| cell | set | scored scenarios passed | beyond passed | checks passed | failed | recommended, not met |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...server.map(
      ({ name, revision, scored, beyond, checks }) =>
        `| ${name} | ${revision} | ${scored.passed}/${scored.total} | ${beyond.passed}/${beyond.total} | ` +
        `${checks.passed} | ${checks.failed} | ${checks.warned} |`,
    ),
    '',
    '| client scenario | revision | checks passed | failed |',
    '| --- | --- | --- | --- |',
    ...client.map(
      ({ scenario, revision, passed, failed }) => `| ${scenario} | ${revision} | ${passed} | ${failed.length} |`,
    ),
    '',
  ].join('\n');
}
