import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectralCore from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { beforeAll, describe, expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import { buildDocument } from '#shared/openapi/document.ts'

const { Spectral } = spectralCore

/** A minute: both read some megabytes, on a machine that does other things too. */
const SLOW = 60_000

const spectral = new Spectral()

/** Rule, place and words of each finding, errors and warnings alike. */
const bySpectral = async (document: object): Promise<string[]> =>
  (await spectral.run(structuredClone(document) as Record<string, unknown>)).map(
    ({ code, path, message }) => `${code} ${path.join('.')}: ${message}`,
  )

const byRedocly = async (document: object): Promise<string[]> => {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: '/openapi.json', config })
  return problems.map(({ ruleId, location, message }) => `${ruleId} ${location[0]?.pointer}: ${message}`)
}

/** Recommended rules, all of them: none is switched off. */
describe('the OpenAPI document, by the recommended rules of', () => {
  let document: Record<string, unknown>
  beforeAll(() => {
    spectral.setRuleset({ extends: [[rulesets.oas as never, 'recommended']] })
    document = buildDocument(Object.values(requestFunctions).flat(), '1.0.0')
  })

  it(
    'Spectral, has no error and no warning',
    async () => {
      expect(await bySpectral(document)).toEqual([])
    },
    SLOW,
  )

  it(
    'Redocly, has no error and no warning',
    async () => {
      expect(await byRedocly(document)).toEqual([])
    },
    SLOW,
  )

  it('both, would have them if it lacked something', async () => {
    const lacking = {
      openapi: '3.1.0',
      info: { title: 'x', version: '1' },
      servers: [{ url: 'https://x.example' }],
      paths: { '/x': { get: { responses: { 200: { description: 'Done.' } } } } },
    }
    expect((await bySpectral(lacking)).join()).toMatch(/info-contact.*operation-description/)
    expect((await byRedocly(lacking)).join()).toMatch(/operation-4xx-response/)
  })
})
