/** What the suite asks the client under test for. */
export interface DriverTask {
  /** URL of the harness. */
  readonly harness: string;
  readonly scenario: string;
  /** What the scenario gives the client. */
  readonly context: object;
  readonly isModern: boolean;
}
