import {
  changeGroup,
  createGroup,
  createRecord,
  finishReplacement,
  type RunConfig,
  removeRecord,
  replaceConfig,
  restoreConfig,
  runConfig,
} from '@toolmgr/plugins/kit/workloads';

/** A configuration of more than two kilobytes. */
export const configOf = (name: string, level: string): RunConfig =>
  runConfig.parse({
    schema_version: 'v0.1.0',
    name,
    transport: 'stdio',
    image: 'example/server:1',
    env_vars: { LEVEL: level, LONG: 'x '.repeat(1_000) },
  });

/** Changes of a state folder with the workload `old`, as operations make them. */
export const changes: Readonly<Record<string, (state: string) => Promise<unknown>>> = {
  create: (state) => createRecord(state, configOf('new', 'first')),
  async edit(state) {
    await replaceConfig(state, 'old', configOf('old', 'second'));
    await finishReplacement(state, 'old');
  },
  async 'edit that fails'(state) {
    await replaceConfig(state, 'old', configOf('old', 'second'));
    await restoreConfig(state, 'old');
  },
  delete: (state) => removeRecord(state, 'old'),
  async group(state) {
    await createGroup(state, 'team');
    await changeGroup(state, 'team', () => ({ skills: ['a'] }));
  },
};
