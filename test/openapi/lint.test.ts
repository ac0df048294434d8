import { createConfig, lintFromString } from '@redocly/openapi-core'
import { describe, expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import { buildDocument } from '#openapi/document.ts'
import { DEEP, isSampled } from '#testkit/sampling.ts'

/** Reads several megabytes, on a machine with other work. */
const SLOW = 240_000

const byRedocly = async (document: object): Promise<string[]> => {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: '/openapi.json', config })
  return problems.map(({ ruleId, location, message }) => `${ruleId} ${location[0]?.pointer}: ${message}`)
}

/**
 * Builds a document with a quarter of the paths, by the seed, and their components; in a deep run, with all of them.
 */
const sampleOf = (document: Record<string, unknown>): Record<string, unknown> => {
  if (DEEP) return document
  const sampled = (name: 'paths' | 'webhooks') =>
    Object.fromEntries(Object.entries(document[name] as object).filter((_, n) => isSampled(n, 4)))
  const sample = { ...document, paths: sampled('paths'), webhooks: sampled('webhooks') }
  const components = document.components as Record<string, Record<string, unknown>>
  const used = new Set<string>()
  const follow = (value: unknown): void => {
    for (const [, ref = ''] of JSON.stringify(value).matchAll(/"#\/components\/([\w/.-]+)"/g)) {
      if (used.has(ref)) continue
      used.add(ref)
      const [kind = '', name = ''] = ref.split('/')
      follow(components[kind]?.[name])
    }
  }
  follow([sample.paths, sample.webhooks])
  type Operation = { security?: object[] }
  const operations = Object.values(sample.paths).flatMap((path) => Object.values(path as Record<string, Operation>))
  const secures = (name: string): boolean => operations.some(({ security = [] }) => security.some((one) => name in one))
  const kept = Object.entries(components).map(([kind, all]) => [
    kind,
    // Security schemes are named, not referenced.
    Object.fromEntries(
      Object.entries(all).filter(([name]) =>
        kind === 'securitySchemes' ? secures(name) : used.has(`${kind}/${name}`),
      ),
    ),
  ])
  return { ...sample, components: Object.fromEntries(kept) }
}

/** All recommended rules; none is switched off. Spectral's are checked by test/generators, because its packages report installations. */
describe('the OpenAPI document, by the recommended rules of Redocly', () => {
  it(
    'has no error and no warning',
    async () => {
      const document = sampleOf(buildDocument(Object.values(requestFunctions).flat(), '1.0.0'))
      expect(await byRedocly(document)).toEqual([])
    },
    SLOW,
  )

  it('has findings when it lacks something', async () => {
    const lacking = {
      openapi: '3.1.0',
      info: { title: 'x', version: '1' },
      servers: [{ url: 'https://x.example' }],
      paths: { '/x': { get: { responses: { 200: { description: 'Done.' } } } } },
    }
    expect((await byRedocly(lacking)).join()).toMatch(/operation-4xx-response/)
  })
})
