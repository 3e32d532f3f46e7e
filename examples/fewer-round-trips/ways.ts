import type { Metered } from './metered.ts';

/** The job: add up the week's orders of some branches, store the sums in memory and write a report. */
export interface Job {
  /** Folder of the `<branch>.json` files and of `report.txt`. */
  readonly folder: string;
  readonly branches: readonly string[];
}

/** With the plain tools: the model passes each result to the next call. */
export async function toolByTool(model: Metered, { folder, branches }: Job): Promise<void> {
  const sums: { readonly branch: string; readonly said: string }[] = [];
  for (const branch of branches) {
    const file = (await model.call('files_read_text_file', { path: `${folder}/${branch}.json` })) as {
      readonly content: string;
    };
    const { shop, online } = JSON.parse(file.content) as { readonly shop: number; readonly online: number };
    sums.push({ branch, said: String(await model.call('everything_get-sum', { a: shop, b: online })) });
  }
  await model.call('memory_create_entities', {
    entities: sums.map(({ branch, said }) => ({ name: branch, entityType: 'branch', observations: [said] })),
  });
  await model.call('files_write_file', {
    path: `${folder}/report.txt`,
    content: sums.map(({ branch, said }) => `${branch}: ${said}\n`).join(''),
  });
}

/** With the composite tool of `vmcp.yaml`: the model makes one call. */
export async function byComposite(model: Metered, { folder, branches }: Job): Promise<void> {
  await model.call('weekly_report', { folder, branches });
}

/** With the same composite tool, found by `find_tool` and called by `call_tool`. */
export async function byFoundComposite(model: Metered, { folder, branches }: Job): Promise<void> {
  const found = (await model.call('find_tool', {
    tool_description: 'add up the orders of some branches and write a report of them',
  })) as { readonly tools: readonly { readonly name: string }[] };
  const [best] = found.tools;
  if (best === undefined) throw new Error('no tool was found');
  await model.call('call_tool', { tool_name: best.name, parameters: { folder, branches } });
}

/** With a script that the model writes for this job. */
export async function byScript(model: Metered, { folder, branches }: Job): Promise<void> {
  await model.call('execute_tool_script', { script: SCRIPT, data: { folder, branches } });
}

const SCRIPT = `
const sums = await parallel(data.branches.map((branch) => async () => {
  const { content } = await files.read_text_file({ path: data.folder + '/' + branch + '.json' });
  const { shop, online } = JSON.parse(content);
  return { branch, said: await everything.get_sum({ a: shop, b: online }) };
}));
await memory.create_entities({
  entities: sums.map(({ branch, said }) => ({ name: branch, entityType: 'branch', observations: [said] })),
});
await files.write_file({
  path: data.folder + '/report.txt',
  content: sums.map(({ branch, said }) => branch + ': ' + said + '\\n').join(''),
});
return { branches: sums.length };`.trim();
