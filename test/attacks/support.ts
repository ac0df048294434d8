import { expect } from 'vitest'
import * as z from 'zod'
import { requestFunctions } from '#functions/registry.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { ERRORS } from '#shared/kernel/errors.ts'
import type { Answer, TestPlatform } from '#testkit/platform.ts'
import { platformErrorOf } from '#testkit/platform-error.ts'

/** Every declared endpoint, so that new ones are attacked from their first day. */
export const endpoints: readonly Endpoint[] = Object.values(requestFunctions).flat()

export const nameOf = ({ method, path }: Endpoint): string => `${method} ${path}`

/** Asserts a complete refusal in the platform's error format: neither a success nor an internal failure. */
export const expectRefusal = (answer: Answer, what: string, ...codes: string[]): void => {
  if (typeof answer.body?.error === 'string') {
    expectStandardRefusal(answer, what, codes)
    return
  }
  const error = platformErrorOf(answer)
  const context = `${what}: ${answer.status} ${answer.text.slice(0, 200)}`
  // JSON-RPC's own errors, of a body that isn't a message, have no counterpart among the platform's.
  if (answer.body?.error?.code <= -32_600 && error === undefined) {
    expect([answer.status, codes.filter((code) => code !== 'validation_error')], context).toEqual([400, []])
    return
  }
  expect(error, context).toBeTruthy()
  // A2A has one status for whatever is wrong with the parameters.
  const isOfA2a = answer.text.includes('google.rpc.BadRequest') || answer.body.code === -32_602
  const ofParameters = error.code === 'validation_error' && isOfA2a
  expect(answer.status, context).toBe(ofParameters ? 400 : ERRORS[error.code as keyof typeof ERRORS]?.[0])
  expect(answer.status, context).toBeGreaterThanOrEqual(400)
  expect(answer.status, context).toBeLessThan(500)
  expect(Object.keys(error).sort(), context).toEqual(['code', 'details', 'docs_url', 'fix', 'message', 'request_id'])
  if (codes.length > 0) expect(codes, context).toContain(error.code)
}

/** Asserts a refusal by an endpoint that follows RFC 6749 strictly. */
const expectStandardRefusal = (answer: Answer, what: string, codes: readonly string[]): void => {
  const context = `${what}: ${answer.status} ${answer.text.slice(0, 200)}`
  expect([400, 401, 429], context).toContain(answer.status)
  expect(Object.keys(answer.body), context).toEqual(['error', 'error_description'])
  if (codes.length > 0) expect(codes, context).toContain(answer.body.error)
}

/** Asserts that the client can read the answer and that it is no internal failure. */
export const expectNoFailure = (answer: Answer, what: string): void =>
  expect(answer.status, `${what}: ${answer.text.slice(0, 200)}`).toBeLessThan(500)

/** Makes calls one second apart, so that no rate limit applies. */
export const calling =
  (platform: TestPlatform) =>
  (method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<Answer> => {
    platform.clock.advance(1_000)
    return platform.call(method, path, { headers, body })
  }

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })

/** Splits a list into batches whose calls run at the same time, because they mostly wait for the store. */
export const batchesOf = <T>(size: number, all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size))

export interface JsonSchema {
  $ref?: string
  $defs?: Record<string, JsonSchema>
  properties?: Record<string, JsonSchema>
  additionalProperties?: boolean | JsonSchema
  items?: JsonSchema
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
  format?: string
  pattern?: string
  type?: string
}

/** Returns the JSON Schema of what may be sent for a declared schema. */
export const sentSchema = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema

/** Lists every part of a schema with its path: `redirect_uris[]`, `steps[].output`. */
export const partsOf = (root: JsonSchema): [path: string, part: JsonSchema][] => {
  const found: [string, JsonSchema][] = []
  const walk = (part: JsonSchema, path: string): void => {
    if (part.$ref) {
      walk(root.$defs?.[part.$ref.split('/').at(-1) ?? ''] ?? {}, path)
      return
    }
    found.push([path, part])
    for (const [name, inner] of Object.entries(part.properties ?? {})) walk(inner, path ? `${path}.${name}` : name)
    if (part.items) walk(part.items, `${path}[]`)
    for (const branch of [...(part.anyOf ?? []), ...(part.oneOf ?? []), ...(part.allOf ?? [])]) walk(branch, path)
  }
  walk(root, '')
  return found
}
