import { Validator } from '@cfworker/json-schema'
import { describe, expect, it } from 'vitest'
import { manifestJsonSchema } from '#shared/catalogue/manifests/json-schema-document.ts'
import { manifestSchema } from '#shared/catalogue/manifests/schema.ts'
import { validateManifest } from '#shared/catalogue/manifests/validate.ts'
import { anyContext, fullManifest, smallManifest } from './manifests.ts'

const document = manifestJsonSchema('https://platform.example')

const accepts = (manifest: unknown): boolean =>
  new Validator(JSON.parse(JSON.stringify(document)), '2020-12', false).validate(manifest).valid

describe('manifestJsonSchema', () => {
  it('is a draft 2020-12 schema under the platform’s own address', () => {
    expect(document).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'https://platform.example/schemas/manifest.json',
      title: 'Agent manifest',
    })
    expect(JSON.stringify(document)).not.toMatch(/"fix"|"schemaRef"/)
  })

  it('describes every field, with a title for people', () => {
    const properties = document.properties as Record<string, { title?: string; description?: string }>
    expect(Object.keys(properties).sort()).toEqual(Object.keys(manifestSchema().shape).sort())
    for (const [name, { title, description }] of Object.entries(properties)) {
      expect(title, name).toBeTruthy()
      expect(description, name).toBeTruthy()
    }
  })

  it.each([
    ['the full manifest', fullManifest()],
    ['the smallest manifest', smallManifest()],
    ['an inline manifest', { ...smallManifest(), runtime: { type: 'inline', instructions: 'x' } }],
    ['a manifest without a name', { ...smallManifest(), name: undefined }],
    ['an unknown field', { ...smallManifest(), extra: 1 }],
    ['a bad version', { ...smallManifest(), version: 'v1' }],
    ['a bad runtime', { ...smallManifest(), runtime: { type: 'other' } }],
    ['an unknown scope', { ...smallManifest(), scopes: ['nope'] }],
    [
      'a tool with a bad keyword',
      { ...smallManifest(), tools: [{ name: 'a', description: 'd', input_schema: { type: 'object', requird: [] } }] },
    ],
    [
      'a tool without an arguments object',
      { ...smallManifest(), tools: [{ name: 'a', description: 'd', input_schema: { type: 'string' } }] },
    ],
    ['a nested setting', { ...smallManifest(), config: { type: 'object', properties: { a: { type: 'object' } } } }],
  ])('agrees with the validator on %s', (_, manifest) => {
    const plain = JSON.parse(JSON.stringify(manifest))
    expect(accepts(plain)).toBe(validateManifest(plain, anyContext).valid)
  })

  it('has examples that are valid themselves', () => {
    const properties = document.properties as Record<string, { examples?: unknown[] }>
    for (const [name, { examples = [] }] of Object.entries(properties))
      for (const example of examples)
        expect(validateManifest({ ...smallManifest(), [name]: example }, anyContext).errors, name).toEqual([])
  })
})
