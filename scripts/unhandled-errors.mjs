// A reporter for Vitest: errors outside tests end the run with a failure that its JSON report does not have.
import { writeFileSync } from 'node:fs';

/** Writes the errors that no test caught into the file that TOOLMGR_TEST_ERRORS names; no file without such errors. */
export default class UnhandledErrors {
  onTestRunEnd(_modules, errors) {
    if (errors.length > 0) writeFileSync(process.env.TOOLMGR_TEST_ERRORS, JSON.stringify(errors));
  }
}
