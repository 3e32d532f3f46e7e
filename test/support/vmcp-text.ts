import { catalogue } from '@toolmgr/plugins';
import { planFromConfig } from '../../hosts/vmcp/plan.ts';
import { readConfig } from '../../hosts/vmcp/read-config.ts';

/** Reads the text of a vmcp file, with our plugins. `plan` is made when it is asked for. */
export async function readText(text: string, file = 'vmcp.yaml') {
  const read = await readConfig(text, file, catalogue);
  return {
    ...read,
    get plan() {
      return planFromConfig(read);
    },
    planWith: (options: Parameters<typeof planFromConfig>[1]) => planFromConfig(read, options),
  };
}

/** The lines of the fault of a text; none when it is valid. */
export function problemsOf(text: string, file?: string): Promise<readonly string[]> {
  return readText(text, file).then(
    () => [],
    (cause: Error) => cause.message.split('\n'),
  );
}
