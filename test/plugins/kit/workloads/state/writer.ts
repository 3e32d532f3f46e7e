// Creates, changes and removes one workload in a loop until it is killed.
import { changeStatus, createRecord, removeRecord } from '../../../../../plugins/kit/workloads/state/records.ts';
import { workloadConfigOf } from '../../../../support/workload-config.ts';

const [state = '', name = ''] = process.argv.slice(2);
const filler = `filler ${'x'.repeat(20_000)}`;
process.send?.('writing');
for (;;) {
  await createRecord(state, workloadConfigOf(name, { env_vars: { FILLER: filler } }));
  for (let i = 0; i < 5; i++) await changeStatus(state, name, () => ({ status: 'stopped', message: filler }));
  await removeRecord(state, name);
}
