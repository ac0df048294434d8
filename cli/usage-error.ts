/** Error for an invalid command line, or for a local file that a command can't use. */
export class UsageError extends Error {
  readonly command: string | undefined
  constructor(message: string, command?: string) {
    super(message)
    this.name = 'UsageError'
    this.command = command
  }
}
