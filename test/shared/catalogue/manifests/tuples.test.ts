import { describe, expect, it } from 'vitest'
import { withCurrentTuples } from '#shared/catalogue/manifests/tuples.ts'
import { validateManifest } from '#shared/catalogue/manifests/validate.ts'
import { anyContext, smallManifest } from './manifests.ts'

const pair = { type: 'array', items: [{ type: 'string' }], additionalItems: { type: 'number' } }
const withSchema = (schema: object) => ({
  ...smallManifest(),
  tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: { pair }, ...schema } }],
})

describe('withCurrentTuples', () => {
  it('writes lists in items as prefixItems where a schema names no dialect, so that what is stored is valid', () => {
    const written = withCurrentTuples(withSchema({}))
    expect(written).toMatchObject({
      tools: [
        { input_schema: { properties: { pair: { prefixItems: [{ type: 'string' }], items: { type: 'number' } } } } },
      ],
    })
    expect(validateManifest(withSchema({}), anyContext).warnings).toMatchObject([
      { path: '/tools/0/input_schema/properties/pair/items' },
    ])
    expect(validateManifest(written, anyContext)).toMatchObject({ valid: true, warnings: [] })
  })

  it('leaves a schema of an older dialect as it is', () => {
    const manifest = withSchema({ $schema: 'http://json-schema.org/draft-07/schema#' })
    expect(withCurrentTuples(manifest)).toEqual(manifest)
    expect(validateManifest(manifest, anyContext)).toMatchObject({ valid: true, warnings: [] })
  })
})
