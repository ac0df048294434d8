/** A problem that stops a deployment (`error`) or will surprise its operator (`warning`), with the command that fixes it. */
export interface Finding {
  level: 'error' | 'warning'
  what: string
  fix: string
}
