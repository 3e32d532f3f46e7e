/** A string that prints as `[secret]` everywhere; `reveal` is called in the one line that sends it. */
export interface Secret {
  reveal(): string;
}
