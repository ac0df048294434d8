import { describe, expect, it } from 'vitest'
import { validateManifest } from '#shared/catalogue/manifests/validate.ts'
import { portableSchema } from '#shared/kernel/json-schema/portable.ts'
import { geminiSubset, strictOpenAi } from '../../kernel/json-schema/converters.ts'
import { toolFaultsOf } from '../../kernel/json-schema/portable-faults.ts'
import { GENERATED_SCHEMAS } from './generated-schemas.ts'
import { anyContext, smallManifest } from './manifests.ts'

const publishes = (schema: object): boolean =>
  validateManifest(
    {
      ...smallManifest(),
      tools: [{ name: 'look', description: 'Looks.', input_schema: schema }],
    },
    anyContext,
  ).valid

describe.each(Object.entries(GENERATED_SCHEMAS))('what %s writes for ordinary types', (_, schemas) => {
  it('publishes', () => {
    const refused = Object.entries(schemas).filter(([, schema]) => !publishes(schema))
    expect(refused.map(([name]) => name)).toEqual([])
    expect(Object.keys(schemas).length).toBeGreaterThan(3)
  })

  it('is listed in a form that converts to the strict form of OpenAI and the subset of Gemini', () => {
    for (const [name, schema] of Object.entries(schemas)) {
      const portable = portableSchema({ ...schema })
      expect(portable, name).toMatchObject({ type: 'object', properties: {} })
      expect(toolFaultsOf(portable), name).toEqual([])
      expect(strictOpenAi(portable), name).toEqual([])
      expect(geminiSubset(portable), name).toEqual([])
    }
  })
})
