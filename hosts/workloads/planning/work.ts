/** How a caller follows and ends work on a workload. */
export interface Work {
  /** Ends the work. What was begun is taken back. */
  readonly signal: AbortSignal;
  /** One sentence for each step, without secrets. */
  report(step: string): void;
}

/** Where the caller can log in, for {@link StartWork}. */
export interface LoginPage {
  readonly url: string;
  /** Name of the authorization server. */
  readonly server: string;
  /** Origin of the server that gets the access token. */
  readonly origin: string;
  /** Whether a browser is opened. */
  readonly opens: boolean;
}

/** How a caller follows a start. */
export interface StartWork extends Work {
  /** It ran before: it gets the same port or fails, the user is not asked to log in, and the record says why it failed. */
  readonly supervised?: boolean;
  /** About once a second with the seconds that have passed. */
  onSecond?(seconds: number): void;
  /** Instead of a step. */
  onLogin?(page: LoginPage): void;
  onLoggedIn?(): void;
  /** Besides a step: a sentence that the user should read. */
  onWarning?(sentence: string): void;
}
