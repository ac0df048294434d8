/** One thing that is wrong (or doubtful), where it is, and how to mend it. */
export interface Finding {
  /** JSON Pointer (RFC 6901) into what was checked; '' is the whole. */
  path: string
  message: string
  fix: string
}

/** Collects findings up to a bound, so that a hostile input cannot make an answer larger than itself. */
export class Findings {
  readonly list: Finding[] = []
  readonly #most: number

  constructor(most = 200) {
    this.#most = most
  }

  add(path: string, message: string, fix: string): void {
    if (this.list.length < this.#most) this.list.push({ path, message, fix })
    else if (this.list.length === this.#most)
      this.list.push({ path: '', message: 'There are more.', fix: 'Correct these first, then validate again.' })
  }

  get full(): boolean {
    return this.list.length > this.#most
  }
}

/** A name out of foreign input, quoted and short enough to show. */
export const shown = (name: string): string => JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name)

/** `path` with one more step (RFC 6901: `~` and `/` are escaped). */
export const under = (path: string, step: string | number): string =>
  `${path}/${String(step).slice(0, 200).replaceAll('~', '~0').replaceAll('/', '~1')}`

/** For error bodies: JSON Pointers as dotted field names, each with its messages (`details.fields`, decisions §1). */
export const byField = (findings: readonly Pick<Finding, 'path' | 'message'>[]): Record<string, string[]> => {
  const fields = new Map<string, string[]>()
  for (const { path, message } of findings) {
    const name = path.split('/').slice(1).join('.').replaceAll('~1', '/').replaceAll('~0', '~')
    fields.set(name, [...(fields.get(name) ?? []), message])
  }
  return Object.fromEntries(fields)
}
