import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiReports } from './api-report.ts';
import { backendStatesPage } from './backend-states-page.ts';
import { commandPages } from './commands-page.ts';
import { CRDS, customResourceDefinitions, GENERATED_YAML } from './crds.ts';
import { environmentPage } from './environment-page.ts';
import { errorsPage } from './errors-page.ts';
import { formatted } from './format.ts';
import { GATEWAYS_PAGE, gatewaysPage } from './gateways-page.ts';
import { hooksPage } from './hooks-page.ts';
import { INSTALL, installManifest } from './install-manifest.ts';
import { kindPages } from './kinds-pages.ts';
import { MAN_PAGE, manPage } from './man-page.ts';
import { managerPages } from './manager-page.ts';
import { GENERATED } from './markdown.ts';
import { packagesPage } from './packages-page.ts';
import { pluginPages } from './plugins-page.ts';
import { requirementsPage } from './requirements-page.ts';
import { limitsPage, planPage } from './schema-pages.ts';
import { slotsPage } from './slots-page.ts';
import { PAGES_WITH_SNIPPETS, withSnippets } from './snippets.ts';
import { ROOT } from './sources.ts';
import { telemetryPage } from './telemetry-page.ts';
import { TEST_TIMES_PAGE, testTimesPage } from './test-times-page.ts';
import { publishedVmcpSchema, VMCP_SCHEMA } from './vmcp/schema.ts';
import { vmcpPages } from './vmcp/vmcp-pages.ts';

export { ROOT };

/** Expected pages by path from the root, and messages about pages that could not be made. */
export interface Generated {
  readonly pages: ReadonlyMap<string, string>;
  readonly skipped: readonly string[];
}

/** Generates every page in memory. The same tree gives the same bytes. */
export async function generatedPages(): Promise<Generated> {
  const drafts = new Map<string, string>();
  const skipped: string[] = [];
  for (const [name, make] of Object.entries(PAGES)) {
    const made = await make();
    if (made === undefined) skipped.push(`${REFERENCE}/${name} is skipped, its source cannot be loaded`);
    else drafts.set(`${REFERENCE}/${name}`, made);
  }
  for (const make of GROUPS) {
    for (const [name, text] of await make()) drafts.set(`${REFERENCE}/${name}`, text);
  }
  const measured = gatewaysPage();
  if (measured !== undefined) drafts.set(GATEWAYS_PAGE, measured);
  const times = testTimesPage();
  if (times !== undefined) drafts.set(TEST_TIMES_PAGE, times);
  drafts.set(VMCP_SCHEMA, JSON.stringify(await publishedVmcpSchema()));
  for (const path of PAGES_WITH_SNIPPETS) {
    if (existsSync(join(ROOT, path))) drafts.set(path, withSnippets(readFileSync(join(ROOT, path), 'utf8')));
  }
  const pages = new Map(formatted(drafts));
  const man = await manPage();
  if (man === undefined) skipped.push(`${MAN_PAGE} is skipped, its source cannot be loaded`);
  else pages.set(MAN_PAGE, man);
  const definitions = await customResourceDefinitions();
  for (const [path, text] of definitions) pages.set(path, text);
  pages.set(INSTALL, installManifest(definitions.map(([, text]) => text)));
  for (const [path, text] of apiReports()) pages.set(path, text);
  return { pages, skipped };
}

/** Paths of pages that differ from the expected text, and of generated pages that are no longer made. */
export function stalePages(pages: ReadonlyMap<string, string>): readonly string[] {
  const differing = [...pages].filter(([path, text]) => onDisk(path) !== text).map(([path]) => path);
  const orphans = [REFERENCE, CRDS]
    .flatMap(filesIn)
    .filter((path) => !pages.has(path) && MARKS.some((mark) => onDisk(path)?.startsWith(mark)));
  return [...differing, ...orphans].sort();
}

const REFERENCE = 'docs/reference';
const MARKS = [GENERATED, GENERATED_YAML];

function filesIn(folder: string): readonly string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:md|yaml)$/.test(name))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`);
}

const PAGES: Readonly<Record<string, () => string | undefined | Promise<string | undefined>>> = {
  'hooks.md': hooksPage,
  'slots.md': slotsPage,
  'packages.md': packagesPage,
  'backend-states.md': backendStatesPage,
  'errors.md': errorsPage,
  'limits.md': limitsPage,
  'plan.md': planPage,
  'requirements.md': requirementsPage,
  'environment.md': environmentPage,
  'telemetry.md': telemetryPage,
};

type Group = readonly (readonly [name: string, text: string])[];

/** Pages that are made together. */
const GROUPS: readonly (() => Group | Promise<Group>)[] = [
  commandPages,
  vmcpPages,
  pluginPages,
  managerPages,
  kindPages,
];

function onDisk(path: string): string | undefined {
  const file = join(ROOT, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
