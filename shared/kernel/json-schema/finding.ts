/** Error or warning with its location and fix. */
export interface Finding {
  /** JSON Pointer (RFC 6901) into the checked value. '' is the whole value. */
  path: string
  message: string
  fix: string
}

/** Collects findings up to a limit, so that a hostile input can't produce a response larger than itself. */
export class Findings {
  readonly list: Finding[] = []
  readonly #limit: number

  constructor(limit = 200) {
    this.#limit = limit
  }

  add(path: string, message: string, fix: string): void {
    if (this.list.length < this.#limit) this.list.push({ path, message, fix })
    else if (this.list.length === this.#limit)
      this.list.push({ path: '', message: 'There are more findings.', fix: 'Fix these first, then validate again.' })
  }

  get full(): boolean {
    return this.list.length > this.#limit
  }
}

/** Quotes and shortens a name from client input for display. */
export const quoteName = (name: string): string => JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name)

/** Appends a step to `path`, escaping `~` and `/` (RFC 6901). */
export const appendPointer = (path: string, step: string | number): string =>
  `${path}/${String(step).slice(0, 200).replaceAll('~', '~0').replaceAll('/', '~1')}`

/**
 * Groups messages by dotted field name, for `details.fields` of an error body (contract/errors.md#details).
 */
export const byField = (findings: readonly Pick<Finding, 'path' | 'message'>[]): Record<string, string[]> => {
  const fields = new Map<string, string[]>()
  for (const { path, message } of findings) {
    const name = path.split('/').slice(1).join('.').replaceAll('~1', '/').replaceAll('~0', '~')
    fields.set(name, [...(fields.get(name) ?? []), message])
  }
  return Object.fromEntries(fields)
}
