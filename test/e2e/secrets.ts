/** Collects every secret sent over the wire, by its place or its form. Idempotency keys aren't secrets. */
const SHAPES = [
  /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}/g,
  /\b(?:dvk|whsec|agsec|cs|join|rft|code)_[A-Za-z0-9+/_=-]{20,}/g,
]
const FIELDS = new Set([
  'access_token',
  'refresh_token',
  'token',
  'api_key',
  'client_secret',
  'signing_secret',
  'secret',
  'invite_link',
  'start_parameter',
  'code',
  'code_verifier',
  'password',
  'tg',
])

/** Receipts look like tokens, but open nothing: they are evidence, kept in the table and the audit. */
const RECEIPTS = /\beyJhbGciOiJFUzI1NiIsInR5cCI6ImFwcHJvdmFsLXJlY2VpcHQrand0[\w.-]+/g

export const withoutReceipts = (text: string): string => text.replaceAll(RECEIPTS, '')

/** Collects from JSON, forms, addresses and headers. */
export class SecretCollector {
  readonly found = new Map<string, string>()

  add(name: string, value: unknown): void {
    // Shorter ones are words: error bodies also have a `code`.
    if (typeof value === 'string' && value.length >= (name === 'code' ? 40 : 20)) this.found.set(value, name)
  }

  /** Looks through text of any form. */
  read(text: string): void {
    for (const shape of SHAPES) for (const [match] of withoutReceipts(text).matchAll(shape)) this.add('by shape', match)
    try {
      JSON.parse(text, (name, value) => {
        if (FIELDS.has(name)) this.add(name, value)
        if (typeof value === 'string' && value.startsWith('http')) this.readAddress(value)
        return value
      })
    } catch {
      for (const [name, value] of new URLSearchParams(text)) if (FIELDS.has(name)) this.add(name, value)
    }
  }

  readAddress(address: string): void {
    if (!URL.canParse(address)) return
    for (const [name, value] of new URL(address).searchParams) if (FIELDS.has(name)) this.add(name, value)
  }

  /** Watches everything that goes through `fetch`. @returns a function that stops it */
  watchFetch(): () => void {
    const original = globalThis.fetch
    globalThis.fetch = async (input, init) => {
      const request = new Request(input, init)
      this.readAddress(request.url)
      for (const value of request.headers.values()) this.read(value)
      if (request.body) this.read(await request.clone().text())
      const response = await original(request)
      for (const [name, value] of response.headers) name === 'location' ? this.readAddress(value) : this.read(value)
      this.read(await response.clone().text())
      return response
    }
    return () => {
      globalThis.fetch = original
    }
  }

  /** Lists the secrets that occur in a text, in plain text or base64. */
  occurring(text: string): string[] {
    return [...this.found].flatMap(([value, name]) => (forms(value).some((form) => text.includes(form)) ? [name] : []))
  }
}

/**
 * Lists the forms in which a secret could have been stored: whole, without its prefix, URL-encoded, in base64 at any
 * offset.
 */
const forms = (value: string): string[] => {
  const bare = value.replace(/^(dvk|whsec|agsec|cs|join|rft|code)_/, '')
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.from(' '.repeat(shift) + value)
      .toString('base64')
      .slice(4, -4),
  )
  return [value, bare, encodeURIComponent(value), JSON.stringify(value).slice(1, -1), ...base64]
}
