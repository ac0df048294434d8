import type * as z from 'zod'
import { fail, type PlatformError } from '../kernel/errors.ts'

/** Names what is wrong with each field: path → list of sentences (decisions §1). */
const fieldErrors = (error: z.ZodError): Record<string, string[]> => {
  const fields: Record<string, string[]> = Object.create(null)
  const add = (path: PropertyKey[], text: string): void => {
    const name = path.map(String).join('.') || 'body'
    fields[name] = [...(fields[name] ?? []), text]
  }
  const walk = (issues: readonly z.core.$ZodIssue[], base: PropertyKey[]): void => {
    for (const issue of issues.slice(0, 100)) {
      const path = [...base, ...issue.path]
      if (issue.code === 'unrecognized_keys')
        for (const key of issue.keys.slice(0, 50)) add([...path, key], 'unknown field')
      else if (issue.code === 'invalid_union' && issue.errors.length > 0) {
        // The branch that came nearest says most.
        const nearest = [...issue.errors].sort((a, b) => a.length - b.length)[0] ?? []
        walk(nearest, path)
      } else add(path, issue.message)
    }
  }
  walk(error.issues, [])
  return { ...fields }
}

/** Checks a value against a schema. Throws `validation_error` naming every field that is wrong. */
export const check = <T>(schema: z.ZodType<T>, value: unknown, what = 'The request'): T => {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw fail('validation_error', {
    message: `${what} has invalid fields.`,
    details: { fields: fieldErrors(result.error) },
  })
}

const mediaType = (contentType: string | undefined): string =>
  (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? ''

/** A JSON body. An empty one counts as `{}`: a POST without described fields takes either. */
export const parseJson = (raw: string, contentType: string | undefined): unknown => {
  if (raw.trim() === '') return {}
  const type = mediaType(contentType)
  if (type !== 'application/json' && !/^application\/[\w.-]+\+json$/.test(type)) {
    throw fail('unsupported_media_type', {
      message: `The body must be application/json${type ? `, not ${type.slice(0, 80)}` : '; the Content-Type header is missing'}.`,
      fix: 'Send Content-Type: application/json.',
    })
  }
  try {
    return JSON.parse(raw)
  } catch {
    throw fail('bad_request', { message: 'The body is not valid JSON.', fix: 'Send valid JSON (RFC 8259).' })
  }
}

/** An OAuth form body. A parameter sent twice is `invalid_request` (RFC 6749 §3.2). */
export const parseForm = (raw: string, contentType: string | undefined): Record<string, string> => {
  const type = mediaType(contentType)
  if (type !== 'application/x-www-form-urlencoded') {
    throw fail('unsupported_media_type', {
      message: 'The body must be application/x-www-form-urlencoded.',
      fix: 'Send form parameters with Content-Type: application/x-www-form-urlencoded (tokens also come as JSON from /oauth/token.json).',
    })
  }
  return unique([...new URLSearchParams(raw)])
}

/** OAuth parameters as JSON. One sent twice is `invalid_request` as in a form; `JSON.parse` alone would take the last. */
export const parseParameters = (raw: string, contentType: string | undefined): unknown => {
  const value = parseJson(raw, contentType)
  const seen = new Set<string>()
  let depth = 0
  // Valid JSON, so that braces and brackets outside strings nest, and a string before a colon is a name.
  for (const [token, text, colon] of raw.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g)) {
    if (text === undefined) depth += token === '{' || token === '[' ? 1 : -1
    else if (colon !== undefined && depth === 1) {
      const name = JSON.parse(text) as string
      if (seen.has(name)) throw repeated(name)
      seen.add(name)
    }
  }
  return value
}

const repeated = (name: string): PlatformError =>
  fail('invalid_request', {
    message: `The parameter ${name.slice(0, 60)} was sent more than once.`,
    fix: 'Send every parameter once.',
  })

/** Several resources may be named (RFC 8707 §2). There is but one here, so the parameter is ignored. */
const REPEATABLE = new Set(['resource'])

/** Parameters by name; one sent twice is `invalid_request`. */
export const unique = (pairs: [string, string][]): Record<string, string> => {
  const found: Record<string, string> = Object.create(null)
  for (const [name, value] of pairs) {
    if (name in found && !REPEATABLE.has(name)) throw repeated(name)
    found[name] = value
  }
  return { ...found }
}

/** Query parameters for a schema; one sent twice is a validation error. */
export const parseQuery = (pairs: [string, string][]): Record<string, string> => {
  const seen = new Set<string>()
  for (const [name] of pairs) {
    if (seen.has(name)) {
      throw fail('validation_error', {
        message: 'A query parameter was sent more than once.',
        details: { fields: { [name]: ['sent more than once'] } },
      })
    }
    seen.add(name)
  }
  return Object.fromEntries(pairs)
}
